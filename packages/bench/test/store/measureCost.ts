import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { openMeasuredStore } from '@keyrail/gateway/test/chainStore/openFuzzedStores.ts'
import { toAddress } from '@keyrail/gateway/test/chainStore/modelChain.ts'
import { createRandom } from '@keyrail/gateway/test/chainStore/storeFuzz.ts'
import { createTokenChain } from './createTokenChain.ts'
import type { TokenChain } from './createTokenChain.ts'

type ChainStore = Awaited<ReturnType<typeof openMeasuredStore>>
type LogQuery = Parameters<ChainStore['readLogs']>[1]

/** What was measured, in its unit, and the most that it may be. */
export interface Cost {
  readonly name: string
  readonly value: number
  readonly limit: number
  readonly unit: string
}

const chainName = 'measured 1'
const blocks = 20_000
/** The first has a log in each block, and the others have none. */
const tokens = Array.from({ length: 2_000 }, (_, at) => toAddress(0x1000 + at))
const [busy = ''] = tokens
const silent = tokens.slice(1)

/** Uses the CPU for at least this long in a round. The lowest of several rounds counts: other programs only add to it. */
const [roundMs, rounds] = [300, 5]

const getCpuMicros = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** The CPU time of all threads for one run of a function, in microseconds. */
const measureCpu = async (work: () => Promise<unknown>): Promise<number> => {
  let lowest = Infinity
  for (let round = 0; round < rounds; round += 1) {
    const endsAt = performance.now() + roundMs
    const before = getCpuMicros()
    let runs = 0
    while (performance.now() < endsAt) {
      await work()
      runs += 1
    }
    lowest = Math.min(lowest, (getCpuMicros() - before) / runs)
  }
  return lowest
}

/** Stores the logs of a chain, and that most addresses have none. @returns What that takes. */
const fill = async (store: ChainStore, chain: TokenChain): Promise<readonly Cost[]> => {
  const add = async (query: LogQuery, upstream: string): Promise<void> => {
    const result = new Uint8Array(Buffer.from(chain.getLogs(query)))
    await store.addLogs({ chain: chainName, upstream, query, answeredTo: query.last, result })
  }
  const getSize = async (): Promise<{ bytes: number; rows: number }> => {
    const { bytes, chains } = await store.getStats()
    return { bytes, rows: chains.reduce((sum, { spans, unconfirmed }) => sum + spans + unconfirmed, 0) }
  }
  const empty = await getSize()
  for (let first = 1; first <= blocks; first += 1_000)
    await add({ first, last: first + 999, addresses: [busy], topics: [] }, 'one')
  const withLogs = await getSize()
  // The second node confirms what the first one has found empty.
  for (const upstream of ['one', 'other'])
    for (let first = 1; first <= blocks; first += 5_000)
      for (let at = 0; at < silent.length; at += 500)
        await add({ first, last: first + 4_999, addresses: silent.slice(at, at + 500), topics: [] }, upstream)
  const { rows } = await getSize()
  return [
    { name: 'bytes of a log', value: (withLogs.bytes - empty.bytes) / chain.count([busy]).logs, limit: 250, unit: 'B' },
    {
      name: 'rows of an address that has no logs in the whole chain',
      value: (rows - withLogs.rows) / silent.length,
      limit: 1,
      unit: '',
    },
  ]
}

/** A hit of the store. */
interface Hit {
  readonly name: string
  readonly query: LogQuery
}

const toQuery = (addresses: readonly string[], count: number, topics: LogQuery['topics'] = []): LogQuery => ({
  first: 1_001,
  last: 1_000 + count,
  addresses,
  topics,
})

const createHits = (chain: TokenChain): readonly Hit[] => {
  const [log] = JSON.parse(chain.getLogs(toQuery([busy], 1))) as readonly [{ topics: readonly string[] }]
  return [
    { name: 'a hit without logs', query: toQuery(silent.slice(0, 1), 2_000) },
    { name: 'a hit with 300 logs', query: toQuery([busy], 300) },
    { name: 'a hit with 10,000 logs', query: toQuery([busy], 10_000) },
    ...[50, 300, 2_000].map((count) => ({
      name: `a hit with ${count} addresses`,
      query: toQuery(tokens.slice(tokens.length - count), 500),
    })),
    {
      name: 'a hit with few of 5,000 logs',
      query: toQuery(
        [busy],
        5_000,
        log.topics.map((topic) => [topic]),
      ),
    },
  ]
}

/** The most CPU time of a hit, in microseconds. */
const toHitLimit = (bytes: number, atoms: number, leftOut: number): number =>
  100 + 2.5 * (bytes / 1_024) + 2.5 * atoms + 2 * leftOut

const measureHits = async (store: ChainStore, chain: TokenChain): Promise<readonly Cost[]> => {
  const costs: Cost[] = []
  for (const { name, query } of createHits(chain)) {
    const read = async () => store.readLogs(chainName, query, { maxBytes: Infinity })
    const found = await read()
    const expected = chain.getLogs(query)
    if (found?.missing !== undefined || found === undefined || Buffer.from(found.value).toString() !== expected)
      throw new Error(`${name}: the store does not have it`)
    const all = JSON.parse(chain.getLogs({ ...query, topics: [] })) as unknown[]
    const leftOut = all.length - (JSON.parse(expected) as unknown[]).length
    const limit = toHitLimit(expected.length, query.addresses.length, leftOut)
    costs.push({
      name: `CPU of ${name} (${Math.round(expected.length / 1_024)} kB)`,
      value: await measureCpu(read),
      limit,
      unit: 'µs',
    })
  }
  return costs
}

const entryCount = 100_000
const lookUps = 20
const toEntryText = (at: number): string => `${chainName} entry ${at}`

const addEntries = async (store: ChainStore): Promise<void> => {
  for (let at = 0; at < entryCount; at += 500)
    await Promise.all(
      Array.from({ length: 500 }, (_, own) => {
        const value = new Uint8Array(Buffer.from(`"0x${randomBytes(700).toString('hex')}"`))
        return store.addEntry({ chain: chainName, upstream: 'one', text: toEntryText(at + own), block: 1, value })
      }),
    )
}

const readEntries = async (store: ChainStore, count: number): Promise<void> => {
  const found = await Promise.all(
    Array.from({ length: count }, () => store.readEntry(toEntryText(Math.floor(Math.random() * entryCount)))),
  )
  if (found.includes(undefined)) throw new Error('the store does not have an entry')
}

/** 600 reads a second. */
const [turnMs, readsPerTurn, turns] = [10, 6, 1_000]

/** The longest delays of the event loop while something is done every 10 milliseconds, in milliseconds. */
const measureLoopDelay = async (work: () => void): Promise<{ p99: number; max: number }> => {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  for (let turn = 0; turn < turns; turn += 1) {
    work()
    await sleep(turnMs)
  }
  delay.disable()
  return { p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 }
}

/** Makes the operating system forget what it has of a file in memory. @returns Whether it could. */
const forgetFile = (file: string): boolean =>
  spawnSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0'], { stdio: 'ignore' }).status === 0

/** Measures what the store costs, beside its limits. */
export const measureCost = async (file: string, print: (text: string) => void): Promise<readonly Cost[]> => {
  const chain = createTokenChain(createRandom(1), { blocks, tokens: [busy], densities: [1] })
  let store = await openMeasuredStore(file, 1e11)
  const costs: Cost[] = []
  try {
    costs.push(...(await fill(store, chain)))
    costs.push(...(await measureHits(store, chain)))
    await addEntries(store)
    const cpu = await measureCpu(() => readEntries(store, lookUps))
    costs.push({
      name: `CPU of an entry of 1.4 kB, in look-ups of ${lookUps}`,
      value: cpu / lookUps,
      limit: 40,
      unit: 'µs',
    })
    await store.close()
    const isCold = forgetFile(file)
    if (!isCold) print('The file is not cold: that needs the program dd.')
    store = await openMeasuredStore(file, 1e11)
    const idle = await measureLoopDelay(() => {})
    const reads: Promise<void>[] = []
    const reading = await measureLoopDelay(() => void reads.push(readEntries(store, readsPerTurn)))
    await Promise.all(reads)
    print(`loop delay without reads: p99 ${idle.p99.toFixed(1)} ms, max ${idle.max.toFixed(1)} ms`)
    costs.push(
      { name: 'loop delay, p99, at 600 reads a second', value: reading.p99, limit: 5, unit: 'ms' },
      { name: 'loop delay, max, at 600 reads a second', value: reading.max, limit: 20, unit: 'ms' },
    )
    return costs
  } finally {
    await store.close()
  }
}
