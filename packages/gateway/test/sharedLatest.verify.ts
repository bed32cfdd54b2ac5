import { Agent, request as sendRequest } from 'node:http'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createApiKey } from '../src/lib/secrets/apiKey.ts'
import { getApiKeyUrl } from '../src/index.ts'
import { controlTime } from './controlTime.ts'
import { createRandom, createSimulatedChain, isOnBranch, startNodes } from './simulatedNodes.ts'
import type { SimulatedBlock, SimulatedChain } from './simulatedNodes.ts'
import { chainIds, startGateway } from './startGateway.ts'

afterEach(() => void vi.useRealTimers())

type Request = readonly [method: string, params: readonly unknown[]]
type Send = (requests: readonly Request[]) => Promise<readonly unknown[]>

/** A caller, and the newest blocks that it was shown. */
interface Caller {
  readonly send: Send
  shown: SimulatedBlock
}

/** What a simulation has found. */
interface Found {
  readonly reads: number
  readonly calls: number
  /** Reads that showed an older block than one that their caller had been shown before they were sent. */
  readonly back: number
  readonly failed: number
  readonly calledMethods: ReadonlyMap<string, number>
}

const stepMs = 50
const address = `0x${'12'.repeat(20)}`
/** The reads of a front end: all pollers send the same ones. */
const pool: readonly Request[] = [
  ['eth_blockNumber', []],
  ['eth_gasPrice', []],
  ['eth_getBlockByNumber', ['latest', false]],
  ['eth_getBalance', [address, 'latest']],
  ...Array.from({ length: 6 }, (_, index): Request => ['eth_call', [{ to: address, data: `0x0${index}` }, 'latest']]),
]

const agent = new Agent({ keepAlive: true, maxSockets: 64 })
const createSend = (url: string): Send => {
  const { port, pathname } = new URL(url)
  return (requests) =>
    new Promise((resolve) => {
      const list = requests.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params }))
      const body = JSON.stringify(list.length === 1 ? list[0] : list)
      const options = { agent, port, path: pathname, method: 'POST', headers: { 'content-type': 'application/json' } }
      const request = sendRequest(options, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const parsed = JSON.parse(Buffer.concat(chunks).toString()) as { id: number; result?: unknown }
          const all = (Array.isArray(parsed) ? parsed : [parsed]) as readonly { id: number; result?: unknown }[]
          resolve(list.map(({ id }) => all.find((one) => one.id === id)?.result))
        })
      })
      request.on('error', () => resolve(list.map(() => undefined)))
      request.end(body)
    })
}

/** Gets the block that a result shows: its number, and the block if it says which. */
const readShown = (chain: SimulatedChain, method: string, result: unknown) => {
  if (method === 'eth_gasPrice' || result === undefined || result === null) return undefined
  if (method === 'eth_blockNumber') return { number: Number(result), block: undefined }
  const of = result as { hash?: string; blockHash?: string }
  const block = chain.find(typeof result === 'string' ? result : (of.blockHash ?? of.hash ?? ''))
  return block && { number: block.number, block }
}

const simulate = async (
  simulation: {
    readonly blockMs: number
    readonly blocks: number
    /** How late blocks reach the second node at least, and at most half of the time the first one. */
    readonly lagMs: number
    readonly pollers?: number
    /** How often each poller sends all reads of the pool. */
    readonly intervalMs?: number
    /** The part of the blocks that replace earlier ones. */
    readonly reorgs?: number
    readonly writes?: boolean
    readonly dies?: boolean
    /** The second node behind the URL gets no more blocks. */
    readonly sticks?: boolean
  },
  shareLatest: boolean,
): Promise<Found> => {
  const { blockMs, blocks, lagMs, pollers = 200, intervalMs = 500, reorgs = 0 } = simulation
  const random = createRandom(7)
  const advance = controlTime()
  const chain = createSimulatedChain(random)
  const nodes = [chain.addNode(lagMs / 4), chain.addNode(lagMs)] as const
  const balanced = await startNodes(chain, nodes, { chainId: chainIds.testnet, random })
  onTestFinished(balanced.stop)
  const other = chain.addNode(lagMs / 2)
  const alone = await startNodes(chain, [other], { chainId: chainIds.testnet, random })
  onTestFinished(alone.stop)
  const urls = simulation.dies === true ? [alone, balanced] : [balanced]
  const upstreams = urls.map(({ url }) => ({ url }))
  const started = await startGateway(
    { testnet: [] },
    { networks: { testnet: { chainId: chainIds.testnet, upstreams, shareLatest } } },
  )
  onTestFinished(() => started.gateway.close({ graceMs: 0 }))
  const callers = Array.from({ length: pollers }, (_, index): Caller => {
    const key = createApiKey('testnet')
    started.keys.add(key, { id: `poller-${index}`, kind: 'apiKey', networks: ['testnet'], status: 'active' })
    return { send: createSend(getApiKeyUrl(started.url, 'testnet', key)), shown: chain.tip() }
  })
  for (const caller of callers) Object.assign(caller, { shown: undefined })

  let reads = 0
  let back = 0
  let failed = 0
  let pending = 0
  let mined = 0
  const check = (floor: SimulatedBlock | undefined, floorNumber: number, shown: ReturnType<typeof readShown>): void => {
    if (shown === undefined) return
    const { number, block } = shown
    const isOrphan =
      block !== undefined &&
      floor !== undefined &&
      floor.number >= number &&
      isOnBranch(floor, chain.tip()) &&
      !isOnBranch(block, chain.tip())
    if (number < floorNumber || isOrphan) back += 1
  }
  const numbers = new Map<Caller, number>()
  const send = async (caller: Caller, requests: readonly Request[]): Promise<readonly unknown[]> => {
    const [floor, floorNumber] = [caller.shown as SimulatedBlock | undefined, numbers.get(caller) ?? 0]
    pending += 1
    const results = await caller.send(requests)
    pending -= 1
    for (const [index, [method]] of requests.entries()) {
      const isRead = method !== 'eth_getTransactionReceipt' && method !== 'eth_sendRawTransaction'
      if (isRead) reads += 1
      if (results[index] === undefined) failed += 1
      const shown = readShown(chain, method, results[index])
      if (isRead) check(floor, floorNumber, shown)
      if (shown === undefined) continue
      numbers.set(caller, Math.max(numbers.get(caller) ?? 0, shown.number))
      if (shown.block !== undefined && shown.block.number >= (caller.shown?.number ?? 0)) caller.shown = shown.block
    }
    return results
  }
  /** Sends a transaction, polls its receipt, and reads. */
  const write = async (caller: Caller, hash: string): Promise<void> => {
    await send(caller, [['eth_sendRawTransaction', [hash]]])
    await send(caller, pool.slice(3, 5))
    for (let poll = 0; poll < 20; poll += 1) {
      const [receipt] = await send(caller, [['eth_getTransactionReceipt', [hash]]])
      for (const read of pool.slice(3, 6)) await send(caller, [read])
      if (receipt !== null) return
      if (isStopped) return
      const until = performance.now() + blockMs / 2
      pending -= 1
      while (performance.now() < until && !isStopped) await new Promise((resolve) => setImmediate(resolve))
      pending += 1
    }
  }
  const settle = async (): Promise<void> => {
    for (let turns = 1; pending > 0; turns += 1) {
      await new Promise((resolve) => setImmediate(resolve))
      // Someone waits for a timer.
      if (turns % 400 === 0) advance(1)
    }
  }
  const startedAt = performance.now()
  let isStopped = false
  const deadAt = simulation.dies === true ? blocks / 2 : Infinity
  for (let step = 0; !isStopped; step += 1) {
    advance(stepMs)
    const phase = step % Math.max(1, intervalMs / stepMs)
    for (const [index, caller] of callers.entries()) {
      if (index % (intervalMs / stepMs) !== phase) continue
      // One in eight sends its reads one by one.
      if (index % 8 === 0) for (const read of pool) void send(caller, [read])
      else void send(caller, pool)
      if (simulation.writes === true && random() < 0.01) void write(caller, `0x${step}${index}`)
    }
    while (performance.now() - startedAt >= (mined + 1) * blockMs) {
      mined += 1
      await new Promise((resolve) => setImmediate(resolve))
      if (random() < reorgs) chain.reorganize(1 + Math.floor(random() * 2))
      else chain.mine()
    }
    if (mined >= deadAt) other.isDead = true
    if (mined >= deadAt + 2) nodes[0].isDead = mined < deadAt + 4
    if (simulation.sticks === true && mined > 2) nodes[1].isStuck = true
    await settle()
    isStopped = mined >= blocks
  }
  const calledMethods = new Map<string, number>()
  for (const { calls } of urls)
    for (const [method, count] of calls) calledMethods.set(method, (calledMethods.get(method) ?? 0) + count)
  let calls = 0
  for (const [method, count] of calledMethods)
    if (method !== 'eth_getTransactionReceipt' && method !== 'eth_sendRawTransaction') calls += count
  return { reads, calls, back, failed, calledMethods }
}

const getSaved = ({ reads, calls }: Found): number => 1 - calls / reads

const chains = {
  '12 s': { blockMs: 12_000, blocks: 3, lagMs: 2_000 },
  '2 s': { blockMs: 2_000, blocks: 8, lagMs: 800 },
  '0.25 s': { blockMs: 250, blocks: 40, lagMs: 500 },
} as const

describe('200 pollers, and two lagging nodes behind one URL', () => {
  test.each([
    ['12 s', 0.99],
    ['2 s', 0.99],
    ['0.25 s', 0.95],
  ] as const)('with blocks of %s', async (name, least) => {
    const found = await simulate(chains[name], true)
    expect(found.back).toBe(0)
    expect(found.failed).toBe(0)
    expect(getSaved(found)).toBeGreaterThanOrEqual(least)
  })

  test.each(['2 s', '0.25 s'] as const)('with blocks of %s, without the option', async (name) => {
    const found = await simulate({ ...chains[name], blocks: 16 }, false)
    expect(found.back).toBeGreaterThan(0)
    expect(getSaved(found)).toBeLessThan(0.5)
  })
})

test('a caller sees its own transactions where each is mined at once', async () => {
  const random = createRandom(3)
  const advance = controlTime()
  const chain = createSimulatedChain(random)
  const options = { chainId: chainIds.testnet, random, mines: true }
  const node = await startNodes(chain, [chain.addNode(0)], options)
  onTestFinished(node.stop)
  const network = { chainId: chainIds.testnet, upstreams: [{ url: node.url }], shareLatest: true }
  const { gateway, url, testnetKey, app } = await startGateway({ testnet: [] }, { networks: { testnet: network } })
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  const senders = [getApiKeyUrl(url, 'testnet', testnetKey), `${url}/testnet/v2/${app}`].map(createSend)
  for (let round = 0; round < 100; round += 1) {
    advance(1 + Math.floor(random() * 100))
    await Promise.all(
      senders.map(async (send, index) => {
        if (random() < 0.5) return
        await send([['eth_sendRawTransaction', [`0x${round}${index}`]]])
        const { number } = chain.tip()
        advance(1)
        const [hash] = await send(pool.slice(4, 5))
        expect(chain.find(String(hash))?.number).toBeGreaterThanOrEqual(number)
      }),
    )
  }
})

describe.each(['2 s', '0.25 s'] as const)('with blocks of %s, no read goes back', (name) => {
  const blocks = 3 * chains[name].blocks
  const pollers = 40
  test.each([
    ['in reorganizations', { reorgs: 0.3 }],
    ['after transactions and their receipts', { writes: true }],
    ['while a node behind the URL gets no blocks', { sticks: true }],
    ['while nodes die', { dies: true }],
    ['while all of that happens', { reorgs: 0.3, writes: true, dies: true }],
  ])('%s', async (_, also) => {
    const found = await simulate({ ...chains[name], blocks, pollers, ...also }, true)
    expect(found.back).toBe(0)
  })
})
