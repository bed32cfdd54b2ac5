import type { DatabaseSync } from 'node:sqlite'
import type { ChainReader, StoredLogs } from '../../src/storage/chainStore/createChainReader.ts'
import type { ChainWriter, EntryAnswer, LogAnswer } from '../../src/storage/chainStore/createChainWriter.ts'
import type { LogQuery, Topics } from '../../src/storage/chainStore/logQuery.ts'
import { createModelChain, toAddress, toWord } from './modelChain.ts'
import type { ModelChain, ModelLog } from './modelChain.ts'

/** The functions of a store that the fuzzing uses. */
export interface FuzzedStore {
  readonly readLogs: (query: LogQuery) => Promise<StoredLogs | undefined>
  readonly joinLogs: (results: readonly Uint8Array[]) => Promise<Uint8Array | 'different' | undefined>
  readonly addLogs: (answer: LogAnswer) => unknown
  readonly readEntry: (text: string) => Promise<Uint8Array | undefined>
  readonly addEntry: (answer: EntryAnswer) => unknown
  readonly pickUnconfirmed: (
    ...args: Parameters<ChainWriter['pickUnconfirmed']>
  ) => Promise<ReturnType<ChainWriter['pickUnconfirmed']>>
  readonly confirm: (answer: LogAnswer) => Promise<unknown>
  /** Damages random rows, evicts, and so on. */
  readonly disturb: (random: Random) => void | Promise<unknown>
}

/** How a run ended. */
export interface FuzzResult {
  readonly requests: number
  /** How many results were not what the chain has, with the first of them. */
  readonly wrong: number
  readonly firstWrong: string | undefined
  /** How many were served without a node. */
  readonly hits: number
  /** How many queries of nodes were wider than the caller's, or had addresses that the caller did not name. */
  readonly wider: number
  /** How many queries confirmed empty ranges. */
  readonly confirmations: number
  /** How many results could not be joined in time. */
  readonly unjoined: number
}

/** Gets a random whole number below `limit`. */
export type Random = (limit: number) => number

/** The chain that a fuzzed store has. */
export const fuzzedChain = 'fuzzed 1'

/** Creates a generator of random numbers. @see Mulberry32 */
export const createRandom = (seed: number): Random => {
  let state = seed
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * limit)
  }
}

const addresses = Array.from({ length: 8 }, (_, at) => toAddress(at + 1))
const words = Array.from({ length: 5 }, (_, at) => toWord(at + 1))

const pick = <T>(random: Random, values: readonly T[]): T => values[random(values.length)] as T

const toSet = (random: Random, values: readonly string[], most: number): readonly string[] =>
  [...new Set(Array.from({ length: 1 + random(most) }, () => pick(random, values)))].toSorted()

const createLogs = (random: Random): readonly ModelLog[] => {
  // Addresses of several densities: the first has logs in half of the blocks, the last in almost none.
  const logs: ModelLog[] = []
  for (const [at, address] of addresses.entries())
    if (random(2 << at) === 0)
      logs.push({
        address,
        topics: Array.from({ length: random(4) }, () => pick(random, words)),
        // Some are so large that a span is cut into several values.
        data: `0x${'ab'.repeat(random(100) === 0 ? 9_000 : random(100))}`,
      })
  return logs
}

const createTopics = (random: Random): Topics => {
  const topics = Array.from({ length: random(3) }, () => (random(3) === 0 ? null : toSet(random, words, 2)))
  if (random(10) === 0) topics.push(null)
  return topics
}

const createQuery = (random: Random, head: number): LogQuery => {
  const first = random(head + 1)
  return {
    first,
    last: Math.min(first + random(random(4) === 0 ? 400 : 60), head + 3),
    addresses: random(12) === 0 ? ['*'] : toSet(random, addresses, 4),
    topics: random(2) === 0 ? [] : createTopics(random),
  }
}

const toBytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'))

/** Compares logs by their meaning: members that not all nodes send may be left out. */
const toMeaning = (text: string): string =>
  JSON.stringify(
    (JSON.parse(text) as Record<string, unknown>[]).map(
      ({ address, topics, data, blockNumber, blockHash, logIndex }) => [
        blockNumber,
        logIndex,
        blockHash,
        address,
        topics,
        data,
      ],
    ),
  )

/** One of two nodes. */
interface ModelNode {
  readonly upstream: string
  /** The block that it has last reported as finalized. */
  finalized: number
  /** The last block that it has indexed: it finds no logs of later ones. */
  indexedTo: number
}

/** How long the chain grows, in blocks. */
const fullLength = 1_000

/** Creates a chain that each process creates alike. */
export const createFixedChain = (): ModelChain => {
  const random = createRandom(1)
  const chain = createModelChain()
  while (chain.blocks.length < fullLength) chain.mine(createLogs(random))
  return chain
}

/** Options of a run. */
interface FuzzOptions {
  /** After how many it ends. @default never */
  readonly requests?: number
  readonly seed: number
  readonly atOnce?: number
  /** A chain that does not change. @default one that grows, and whose tail is reorganized */
  readonly fixedChain?: ModelChain
  /** Called with the result so far, every 50,000 requests. */
  readonly onProgress?: (result: FuzzResult) => void
}

const progressEvery = 50_000

/**
 * Sends random requests, and compares each result with the chain, whose finality moves. One of two nodes indexes from time to time, and then finds no
 * logs of later blocks.
 */
export const fuzzStore = async (
  store: FuzzedStore,
  { requests = Infinity, seed, atOnce = 1, fixedChain, onProgress }: FuzzOptions,
): Promise<FuzzResult> => {
  const random = createRandom(seed)
  const startedAt = performance.now()
  const chain = fixedChain ?? createModelChain()
  const good: ModelNode = { upstream: 'good', finalized: 0, indexedTo: Infinity }
  const other: ModelNode = { upstream: 'other', finalized: 0, indexedTo: Infinity }
  const counts = { requests: 0, wrong: 0, hits: 0, wider: 0, confirmations: 0, unjoined: 0 }
  let firstWrong: string | undefined
  const fail = (what: string): void => {
    counts.wrong += 1
    firstWrong ??= what
  }
  const getHead = (): number => chain.blocks.length - 1
  const changeTail = (): void => {
    const depth = getHead() - good.finalized
    if (random(20) === 0 && depth > 1) chain.rollBack(1 + random(depth - 1))
    // It stops to grow, so that a long run asks for what is stored.
    if (chain.blocks.length < fullLength || random(500) === 0)
      for (let count = random(6); count > 0; count -= 1) chain.mine(createLogs(random))
  }
  const changeChain = (): void => {
    if (fixedChain === undefined) changeTail()
    good.finalized = Math.max(good.finalized, getHead() - 8 - random(20))
    other.finalized = Math.max(other.finalized, good.finalized - random(50))
    // After ten minutes, its own second answer would confirm the first.
    if (random(10) === 0)
      other.indexedTo =
        other.indexedTo === Infinity && performance.now() - startedAt < 300_000 ? random(getHead() + 1) : Infinity
  }
  const askNode = (node: ModelNode, query: LogQuery): string =>
    chain.getLogs({ ...query, last: Math.min(query.last, node.indexedTo) }, node === other ? 'timestamps' : 'plain')

  const requestLogs = async (): Promise<void> => {
    const query = createQuery(random, getHead())
    const found = await store.readLogs(query)
    const name = JSON.stringify(query)
    if (found !== undefined && found.missing === undefined) {
      counts.hits += 1
      const text = Buffer.from(found.value).toString('latin1')
      if (toMeaning(text) !== toMeaning(chain.getLogs(query))) fail(`hit ${name}`)
      return
    }
    const { missing = query } = found ?? {}
    const isWider =
      missing.first < query.first ||
      missing.last > query.last ||
      missing.addresses.some((address) => !query.addresses.includes(address))
    if (isWider) counts.wider += 1
    const node = random(3) === 0 ? other : good
    const last = Math.min(missing.last, node.finalized)
    const own = { ...query, ...missing }
    const answer = askNode(node, own)
    const expected = chain.getLogs(query)
    if (last >= missing.first)
      void store.addLogs({
        chain: fuzzedChain,
        upstream: node.upstream,
        query: { ...own, last },
        answeredTo: own.last,
        result: toBytes(answer),
      })
    if (node.indexedTo < own.last) return
    const joined = await store.joinLogs([found?.value ?? toBytes('[]'), toBytes(answer)])
    // The reader was late, as on a busy machine: the service then asks a node for all of it.
    if (joined === undefined) counts.unjoined += 1
    else if (joined === 'different' || toMeaning(Buffer.from(joined).toString('latin1')) !== toMeaning(expected))
      fail(`part ${name} ${JSON.stringify(missing)}`)
  }

  const requestBlock = async (): Promise<void> => {
    const number = random(getHead() + 1)
    const text = `${fuzzedChain} block ${number}`
    const found = await store.readEntry(text)
    if (found !== undefined) {
      counts.hits += 1
      if (Buffer.from(found).toString() !== chain.getBlock(number)) fail(`block ${number}`)
    } else if (number <= good.finalized)
      void store.addEntry({
        chain: fuzzedChain,
        upstream: good.upstream,
        text,
        block: number,
        value: toBytes(chain.getBlock(number)),
      })
  }

  /** The logs of one block, which are empty if it has none, or if the node has not indexed it. */
  const requestReceipts = async (): Promise<void> => {
    const block = random(getHead() + 1)
    const text = `${fuzzedChain} receipts ${block}`
    const query = { first: block, last: block, addresses: ['*'], topics: [] }
    const found = await store.readEntry(text)
    if (found !== undefined) {
      counts.hits += 1
      if (toMeaning(Buffer.from(found).toString('latin1')) !== toMeaning(chain.getLogs(query)))
        fail(`receipts ${block}`)
      return
    }
    const node = random(3) === 0 ? other : good
    const answer = askNode(node, query)
    if (block <= node.finalized)
      void store.addEntry({
        chain: fuzzedChain,
        upstream: node.upstream,
        text,
        block,
        isEmpty: answer === '[]',
        value: toBytes(answer),
      })
  }

  const confirmOnce = async (): Promise<void> => {
    for (const [from, by] of [
      [other, good],
      [good, other],
    ] as const) {
      if (by.indexedTo < Infinity) continue
      const picked = await store.pickUnconfirmed(
        { chain: fuzzedChain, upstream: from.upstream },
        { maxBlocks: 500, waitMs: 0, ageMs: 0 },
      )
      if (picked === undefined || by.indexedTo < Infinity) continue
      const query = { ...picked.query, last: Math.min(picked.query.last, by.finalized) }
      if (query.last < query.first) continue
      counts.confirmations += 1
      await store.confirm({ chain: fuzzedChain, upstream: by.upstream, query, result: toBytes(askNode(by, query)) })
    }
  }

  const work = async (): Promise<void> => {
    while (counts.requests < requests) {
      counts.requests += 1
      changeChain()
      if (counts.requests % 20 === 0) await confirmOnce()
      if (counts.requests % 50 === 0) await store.disturb(random)
      if (counts.requests % progressEvery === 0) onProgress?.({ ...counts, firstWrong })
      await (random(5) > 0 ? requestLogs() : random(2) === 0 ? requestBlock() : requestReceipts())
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return { ...counts, firstWrong }
}

/** Damages random rows of a file: a number of a row, or a byte of a value. */
export const damageRows = (database: DatabaseSync, random: Random, count: number): void => {
  for (let left = count; left > 0; left -= 1) {
    const column = pick(random, ['first', 'value', 'source', 'last'])
    const change = 1 + random(200)
    // A random key is faster to find than a random row.
    const somewhere = '(f, last) in (select f, last from TABLE where f >= randomblob(16) limit 1)'
    database.exec(
      `update or ignore spans set ${column} = ${column} ${random(2) === 0 ? '+' : '-'} ${change} where ${somewhere.replace('TABLE', 'spans')}`,
    )
    database.exec(
      `update or ignore unconfirmed set first = max(0, first - ${change}) where ${somewhere.replace('TABLE', 'unconfirmed')}`,
    )
    for (const table of ['logs', 'entries']) {
      const { most } = database.prepare(`select coalesce(max(rowid), 0) as most from ${table}`).get() as {
        most: number
      }
      const row = database
        .prepare(`select rowid as id, value from ${table} where rowid >= ? order by rowid limit 1`)
        .get(random(most + 1))
      if (row === undefined) continue
      const value = Buffer.from(row['value'] as Uint8Array)
      const at = random(value.length)
      value.writeUInt8(value.readUInt8(at) ^ (1 << random(8)), at)
      database.prepare(`update ${table} set value = ? where rowid = ?`).run(value, row['id'] as number)
    }
  }
}

/** Creates a fuzzed store from the functions of both threads, in this thread. */
export const toFuzzedStore = (
  reader: ChainReader,
  writer: ChainWriter,
  disturb: FuzzedStore['disturb'],
): FuzzedStore => ({
  readLogs: async (query) => reader.readLogs(fuzzedChain, query, Infinity),
  joinLogs: async (results) => reader.joinResults(results),
  addLogs: (answer) => void writer.addLogs(answer),
  readEntry: async (text) => reader.readEntry(text),
  addEntry: writer.addEntry,
  pickUnconfirmed: async (...args) => writer.pickUnconfirmed(...args),
  confirm: async (answer) => writer.confirm(answer),
  disturb: async (random) => {
    writer.noteRows(reader.takeRows())
    await disturb(random)
  },
})

/** Creates a fuzzed store in which all is confirmed. A third of what the other node sends has a log less, or is another block. */
export const toConfirmedStore = (store: FuzzedStore): FuzzedStore => {
  const random = createRandom(9)
  const spoil = (upstream: string, value: Uint8Array): Uint8Array => {
    if (upstream !== 'other' || random(3) > 0) return value
    const parsed: unknown = JSON.parse(Buffer.from(value).toString('latin1'))
    return toBytes(JSON.stringify(Array.isArray(parsed) ? parsed.slice(1) : { ...(parsed as object), hash: '0x' }))
  }
  const toAnswer = (answer: LogAnswer): LogAnswer => ({
    ...answer,
    group: answer.upstream,
    result: spoil(answer.upstream, answer.result),
  })
  return {
    ...store,
    addLogs: (answer) => store.addLogs(toAnswer(answer)),
    confirm: (answer) => store.confirm(toAnswer(answer)),
    addEntry: (answer) => {
      const [method = '', params = ''] = answer.text.slice(fuzzedChain.length + 1).split(' ')
      // Of blocks that it has not indexed, the other node sends nothing: the good one would not.
      for (const upstream of answer.upstream === 'other' ? ['other'] : ['other', 'good'])
        void store.addEntry({
          ...answer,
          upstream,
          group: upstream,
          call: { method, params },
          value: spoil(upstream, answer.value),
        })
    },
  }
}
