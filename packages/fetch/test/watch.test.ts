import type { Hex } from '@keyrail/core'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createClient, isKeyrailError } from '../src/index.ts'
import type { KeyrailError } from '../src/index.ts'
import { watchBlocks } from '../src/watch/watchBlocks.ts'
import type { BlockEvent } from '../src/watch/watchBlocks.ts'
import { watchLogs } from '../src/watch/watchLogs.ts'
import type { LogEvent } from '../src/watch/watchLogs.ts'
import type { WatchFailure } from '../src/watch/watchOptions.ts'
import {
  createChainClient,
  createChainTransport,
  contract,
  createReorgChain,
  NodeError,
  placeOf,
  serveChain,
  topicOf,
} from './reorgChain.ts'
import type { ReorgChain } from './reorgChain.ts'

const createChain = (blocks: number | readonly number[]): ReorgChain => {
  const chain = createReorgChain()
  chain.mine(blocks)
  return chain
}

/** Takes events as they come, until it is ended or fails. */
const take = <E>(
  events: AsyncGenerator<E, void, undefined>,
): { seen: E[]; over: Promise<void>; stop: () => Promise<void> } => {
  const seen: E[] = []
  const over = (async () => {
    for await (const event of events) seen.push(event)
  })()
  over.catch(() => {})
  return {
    seen,
    over,
    stop: async () => {
      await events.return()
      await over
    },
  }
}

/** The blocks reported and not removed. Fails if they do not form a chain at any time. */
const blocksLeft = (events: readonly BlockEvent[]): { number: number; hash: Hex }[] => {
  const left: { number: number; hash: Hex }[] = []
  for (const event of events) {
    if (event.type === 'block') {
      const { number, hash, parentHash } = event.block
      const below = left.at(-1)
      if (below) expect([Number(number), parentHash]).toEqual([below.number + 1, below.hash])
      left.push({ number: Number(number), hash })
    } else {
      expect(event.depth).toBe(event.removed.length)
      expect(event.depth).toBeGreaterThan(0)
      for (const { number, hash } of event.removed) expect(left.pop()).toEqual({ number: Number(number), hash })
    }
  }
  return left
}

/** The logs reported and not removed. Fails if a removed log was not the last one. */
const logsLeft = (events: readonly LogEvent[]): string[] => {
  const left: string[] = []
  for (const event of events) {
    if (event.type === 'log') {
      expect(event.log.removed).toBe(false)
      left.push(placeOf(event.log))
    } else {
      expect(event.depth).toBeGreaterThan(0)
      for (const log of event.removed) {
        expect(log.removed).toBe(true)
        expect(left.pop()).toBe(placeOf(log))
      }
    }
  }
  return left
}

interface Step {
  readonly depth: number
  readonly blocks: number
  readonly fails?: 'throttled' | 'network' | 'unavailable' | 'lagging' | undefined
}
/** What a client makes the same of over HTTP. */
const wordings = {
  throttled: { status: 429, code: 429, message: 'too many requests', retryAfterMs: 5 },
  network: { status: 502, code: -32_000, message: 'bad gateway' },
  unavailable: { status: 503, code: -32_000, message: 'service unavailable' },
  lagging: { status: 200, code: -32_000, message: 'header not found' },
}

/** A change between two requests: mostly none, so that the watcher reaches the head, where reorganizations matter. */
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 300, arbitrary: fc.constant<Step>({ depth: 0, blocks: 0 }) },
  { weight: 8, arbitrary: fc.record({ depth: fc.constant(0), blocks: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ depth: fc.constant(0), blocks: fc.integer({ min: 5, max: 40 }) }) },
  {
    weight: 10,
    arbitrary: fc
      .tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: -3, max: 2 }))
      .map(([depth, more]) => ({ depth, blocks: Math.max(depth + more, 0) })),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      depth: fc.constant(0),
      blocks: fc.integer({ min: 0, max: 1 }),
      fails: fc.constantFrom('throttled', 'network', 'unavailable', 'lagging'),
    }),
  },
)

/** Changes the chain before and after each response. Returns how many changes are left. */
const play = (chain: ReorgChain, script: readonly Step[]): (() => number) => {
  const steps = [...script]
  const next = (): Step['fails'] => {
    const { depth, blocks, fails } = steps.shift() ?? { depth: 0, blocks: 0 }
    if (depth > 0) chain.reorg(depth, blocks)
    else chain.mine(blocks)
    return fails
  }
  chain.before = () => {
    const fails = next()
    if (fails) throw new NodeError(fails, wordings[fails])
  }
  chain.after = () => void next()
  return () => steps.length
}

/** Advances the clock until the chain no longer changes and everything must have been reported. */
const untilQuiet = async (left: () => number): Promise<void> => {
  for (let i = 0; i < 1_000 && left() > 0; i++) await vi.advanceTimersByTimeAsync(2_000)
  expect(left()).toBe(0)
  await vi.advanceTimersByTimeAsync(240_000)
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  // Whatever a test did, no watcher leaves a timer behind.
  if (vi.isFakeTimers()) expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('watchBlocks', () => {
  test('reports the latest block first, then each new one', async () => {
    const chain = createChain(10)
    const { seen, stop } = take(watchBlocks(createChainClient(chain)))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(seen).toHaveLength(1)
    chain.mine(1)
    await vi.advanceTimersByTimeAsync(12_000)
    chain.mine(2)
    await vi.advanceTimersByTimeAsync(12_000)
    await stop()
    expect(blocksLeft(seen)).toEqual(chain.blocks.slice(10).map(({ number, hash }) => ({ number, hash })))
    expect(seen[0]).toMatchObject({ type: 'block', block: { number: 10n } })
  })

  test('fills the gap from a block in the past, and waits for one in the future', async () => {
    const chain = createChain(300)
    const past = take(watchBlocks(createChainClient(chain), { fromBlock: 5 }))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(blocksLeft(past.seen)).toHaveLength(296)
    const future = take(watchBlocks(createChainClient(chain), { fromBlock: 303n }))
    await vi.advanceTimersByTimeAsync(10_000)
    expect(future.seen).toEqual([])
    chain.mine(5)
    await vi.advanceTimersByTimeAsync(12_000)
    expect(blocksLeft(future.seen).map(({ number }) => number)).toEqual([303, 304, 305])
    const finalized = take(watchBlocks(createChainClient(chain), { fromBlock: 'finalized' }))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(blocksLeft(finalized.seen)[0]?.number).toBe(273)
    await Promise.all([past.stop(), future.stop(), finalized.stop()])
  })

  test('returns full transactions with includeTransactions', async () => {
    const chain = createChain(1)
    const events = watchBlocks(createChainClient(chain), { includeTransactions: true })
    await events.next()
    await events.return()
    expect(chain.requests.at(-1)).toEqual({ method: 'eth_getBlockByNumber', params: ['latest', true] })
  })

  test('skips missed blocks with emitMissedBlocks: false', async () => {
    const chain = createChain(10)
    const { seen, stop } = take(watchBlocks(createChainClient(chain), { emitMissedBlocks: false }))
    await vi.advanceTimersByTimeAsync(1_000)
    chain.mine(20)
    await vi.advanceTimersByTimeAsync(12_000)
    chain.reorg(1)
    await vi.advanceTimersByTimeAsync(12_000)
    chain.reorg(5, 9)
    await vi.advanceTimersByTimeAsync(12_000)
    await stop()
    expect(seen.map((event) => (event.type === 'block' ? Number(event.block.number) : -event.depth))).toEqual([
      10, 30, -1, 30, 34,
    ])
  })

  test('does not return to skipped blocks when the chain becomes shorter', async () => {
    const chain = createChain(10)
    const { seen, stop } = take(watchBlocks(createChainClient(chain), { emitMissedBlocks: false }))
    await vi.advanceTimersByTimeAsync(1_000)
    chain.mine(20)
    await vi.advanceTimersByTimeAsync(12_000)
    chain.reorg(3, 0)
    await vi.advanceTimersByTimeAsync(120_000)
    chain.mine(4)
    await vi.advanceTimersByTimeAsync(12_000)
    await stop()
    expect(seen.map((event) => (event.type === 'block' ? Number(event.block.number) : -event.depth))).toEqual([
      10, 30, -1, 30, 31,
    ])
  })

  test('is not led astray by one node that still has the old branch, while it fills a gap', async () => {
    const chain = createChain(30)
    const old = chain.blocks[27]?.hash
    chain.reorg(5, 6)
    let replaced = false
    const balanced: ReorgChain = {
      ...chain,
      respond: (method, params) => {
        if (replaced || params[0] !== '0x1b') return chain.respond(method, params)
        replaced = true
        return chain.respond('eth_getBlockByHash', [old])
      },
    }
    const { seen, stop } = take(watchBlocks(createChainClient(balanced), { fromBlock: 24 }))
    await vi.advanceTimersByTimeAsync(12_000)
    await stop()
    expect(replaced).toBe(true)
    expect(seen.map(({ type }) => type)).toEqual(Array.from({ length: 8 }, () => 'block'))
    expect(blocksLeft(seen)).toHaveLength(8)
  })

  test('reports removed blocks newest first, then the ones that replace them', async () => {
    const chain = createChain(10)
    const { seen, stop } = take(watchBlocks(createChainClient(chain), { fromBlock: 8 }))
    await vi.advanceTimersByTimeAsync(1_000)
    const [, lost9, lost10] = chain.blocks.slice(8)
    chain.reorg(2, 3)
    await vi.advanceTimersByTimeAsync(12_000)
    await stop()
    expect(seen.slice(3).map((event) => (event.type === 'block' ? event.block.number : event.removed))).toEqual([
      [expect.objectContaining({ hash: lost10?.hash }), expect.objectContaining({ hash: lost9?.hash })],
      9n,
      10n,
      11n,
    ])
  })

  test('follows a reorganization to below its first block, and one to a chain that stays shorter', async () => {
    const chain = createChain(20)
    const { seen, stop } = take(watchBlocks(createChainClient(chain)))
    await vi.advanceTimersByTimeAsync(1_000)
    chain.reorg(5, 6)
    await vi.advanceTimersByTimeAsync(12_000)
    expect(blocksLeft(seen)).toEqual(chain.blocks.slice(20).map(({ number, hash }) => ({ number, hash })))
    chain.mine(10)
    await vi.advanceTimersByTimeAsync(12_000)
    chain.reorg(3, 0)
    await vi.advanceTimersByTimeAsync(120_000)
    await stop()
    expect(blocksLeft(seen)).toEqual(chain.blocks.slice(20).map(({ number, hash }) => ({ number, hash })))
  })

  test('does not take a node that lags for a reorganization', async () => {
    const chain = createChain(30)
    let turn = 0
    // A balancer in front of three nodes, one of which is three blocks behind.
    const balanced: ReorgChain = {
      ...chain,
      respond: async (method, params) => {
        const head = chain.blocks.length - 1 - (turn++ % 3 === 0 ? 3 : 0)
        const [block, ...rest] = params
        if (block === 'latest') return chain.respond(method, [`0x${head.toString(16)}`, ...rest])
        return Number(block) > head && String(block).length < 60 ? null : chain.respond(method, params)
      },
    }
    const { seen, stop } = take(watchBlocks(createChainClient(balanced), { fromBlock: 20 }))
    for (let i = 0; i < 40; i++) {
      chain.mine(1)
      await vi.advanceTimersByTimeAsync(12_000)
    }
    await vi.advanceTimersByTimeAsync(12_000)
    await stop()
    expect(seen.filter(({ type }) => type === 'reorg')).toEqual([])
    expect(blocksLeft(seen)).toHaveLength(51)
  })

  test('rejects blocks that were not requested, however many a node sends', async () => {
    for (const method of ['eth_getBlockByHash', 'eth_getBlockByNumber']) {
      const chain = createChain(30)
      const stubborn: ReorgChain = {
        ...chain,
        respond: (called, params) =>
          called === method && params[0] !== 'latest'
            ? chain.respond('eth_getBlockByHash', [chain.blocks[12]?.hash])
            : chain.respond(called, params),
      }
      const { over } = take(watchBlocks(createChainClient(stubborn), { fromBlock: 28 }))
      await vi.advanceTimersByTimeAsync(1_000)
      chain.reorg(2, 3)
      await vi.advanceTimersByTimeAsync(12_000)
      await expect(over).rejects.toMatchObject({ kind: 'badResponse' })
    }
  })

  test('is not hurried by a short interval into taking a lagging node for a shorter chain', async () => {
    const chain = createChain(30)
    const { respond } = chain
    let lag = 0
    const lagging: ReorgChain = {
      ...chain,
      respond: (method, [block, ...rest]) =>
        respond(method, [block === 'latest' ? `0x${(chain.head().number - lag).toString(16)}` : block, ...rest]),
    }
    const { seen, stop } = take(watchBlocks(createChainClient(lagging), { fromBlock: 20, pollingIntervalMs: 10 }))
    await vi.advanceTimersByTimeAsync(1_000)
    lag = 2
    // The chain makes a block every 12 s.
    await vi.advanceTimersByTimeAsync(20_000)
    expect(blocksLeft(seen)).toHaveLength(11)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(blocksLeft(seen)).toHaveLength(9)
    lag = 0
    await vi.advanceTimersByTimeAsync(1_000)
    await stop()
    expect(blocksLeft(seen)).toHaveLength(11)
  })

  test('follows reorgDepth blocks back and no more', async () => {
    const chain = createChain(30)
    const { seen, over } = take(watchBlocks(createChainClient(chain), { fromBlock: 1, reorgDepth: 5 }))
    await vi.advanceTimersByTimeAsync(1_000)
    chain.reorg(5, 6)
    await vi.advanceTimersByTimeAsync(12_000)
    expect(blocksLeft(seen).map(({ hash }) => hash)).toEqual(chain.blocks.slice(1).map(({ hash }) => hash))
    chain.reorg(6, 7)
    await vi.advanceTimersByTimeAsync(12_000)
    await expect(over).rejects.toMatchObject({ kind: 'badResponse', retryable: false })
    await expect(over).rejects.toThrow('reorgDepth (5 blocks)')
  })

  test('ends as the canonical chain if it changes between any two requests', async () => {
    let reorgs = 0
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 40 }),
        fc.option(fc.nat(45), { nil: undefined }),
        fc.array(step, { minLength: 20, maxLength: 800, size: 'max' }),
        async (blocks, fromBlock, script) => {
          const chain = createChain(blocks)
          const left = play(chain, script)
          const { seen, stop } = take(
            watchBlocks(createChainClient(chain), { ...(fromBlock !== undefined && { fromBlock }) }),
          )
          await untilQuiet(left)
          await stop()
          const first = fromBlock ?? (seen[0]?.type === 'block' ? Number(seen[0].block.number) : Infinity)
          expect(blocksLeft(seen)).toEqual(chain.blocks.slice(first).map(({ number, hash }) => ({ number, hash })))
          reorgs += seen.filter(({ type }) => type === 'reorg').length
        },
      ),
      { numRuns: 150 },
    )
    expect(reorgs).toBeGreaterThan(400)
  })
})

describe('watchLogs', () => {
  test('reports the matching logs from the latest block on', async () => {
    const chain = createChain([1, 2, 3])
    const filter = { address: contract, topics: [topicOf(1)] }
    const { seen, stop } = take(watchLogs(createChainClient(chain), filter))
    await vi.advanceTimersByTimeAsync(1_000)
    chain.mine([0, 4, 1])
    await vi.advanceTimersByTimeAsync(12_000)
    await stop()
    expect(logsLeft(seen)).toEqual(
      chain
        .logs(3)
        .filter(({ topics }) => topics[0] === topicOf(1))
        .map(placeOf),
    )
    expect(seen).toHaveLength(3)
  })

  test('reports removed logs once, newest first, and a reorganization without logs', async () => {
    const chain = createChain([1, 2, 0])
    const { seen, stop } = take(watchLogs(createChainClient(chain), { fromBlock: 0 }))
    await vi.advanceTimersByTimeAsync(1_000)
    chain.reorg(1, 2)
    await vi.advanceTimersByTimeAsync(12_000)
    expect(seen.find(({ type }) => type === 'reorg')).toEqual({ type: 'reorg', removed: [], depth: 1 })
    const lost = chain.logs(1).map(placeOf)
    chain.reorg(4, 4)
    await vi.advanceTimersByTimeAsync(12_000)
    await stop()
    const last = seen.findLast((event) => event.type === 'reorg')
    expect(last?.depth).toBe(4)
    expect(last?.removed.map(placeOf)).toEqual(lost.toReversed())
    expect(logsLeft(seen)).toEqual(chain.logs().map(placeOf))
  })

  test('costs two calls a block', async () => {
    const chain = createChain(5)
    const { stop } = take(watchLogs(createChainClient(chain), { pollingIntervalMs: 12_000 }))
    await vi.advanceTimersByTimeAsync(6_000)
    chain.requests.length = 0
    for (let i = 0; i < 20; i++) {
      chain.mine(1)
      await vi.advanceTimersByTimeAsync(12_000)
    }
    await stop()
    expect(chain.requests).toHaveLength(40)
  })

  test('reads blocks far below the head in ranges, and resumes after a failure there', async () => {
    const chain = createChain(5_000)
    let calls = 0
    chain.before = (method) => {
      if (method === 'eth_getLogs' && ++calls % 5 === 2 && calls < 100)
        throw new NodeError('unavailable', { code: -32_000, message: 'busy' })
    }
    const reported: WatchFailure[] = []
    const watched = watchLogs(createChainClient(chain), { fromBlock: 3, onError: (failure) => reported.push(failure) })
    const { seen, stop } = take(watched)
    await vi.advanceTimersByTimeAsync(60_000)
    chain.mine(1)
    chain.reorg(12, 13)
    await vi.advanceTimersByTimeAsync(120_000)
    await stop()
    expect(logsLeft(seen)).toEqual(chain.logs(3).map(placeOf))
    expect(reported.length).toBeGreaterThan(1)
    expect(chain.requests.length).toBeLessThan(400)
  })

  test('catches up in ranges after a long pause, also after a reorganization during the pause', async () => {
    for (const depth of [0, 10]) {
      const chain = createChain(50)
      const { seen, stop } = take(watchLogs(createChainClient(chain), { fromBlock: 20 }))
      await vi.advanceTimersByTimeAsync(1_000)
      if (depth > 0) chain.reorg(depth)
      chain.mine(4_000)
      chain.requests.length = 0
      await vi.advanceTimersByTimeAsync(30_000)
      chain.reorg(12, 14)
      await vi.advanceTimersByTimeAsync(30_000)
      await stop()
      expect(logsLeft(seen)).toEqual(chain.logs(20).map(placeOf))
      expect(chain.requests.length).toBeLessThan(400)
    }
  })

  test('catches up a second time from its current block, not from that of an earlier failure', async () => {
    const chain = createChain(5_000)
    chain.before = (method, [filter]) => {
      if (method !== 'eth_getLogs' || Number((filter as { fromBlock?: Hex }).fromBlock) < 500) return
      chain.before = () => {}
      throw new NodeError('network', { code: 0, message: 'reset' })
    }
    const { seen, stop } = take(watchLogs(createChainClient(chain), { fromBlock: 1 }))
    await vi.advanceTimersByTimeAsync(10_000)
    chain.mine(1_000)
    await vi.advanceTimersByTimeAsync(30_000)
    await stop()
    expect(logsLeft(seen)).toEqual(chain.logs(1).map(placeOf))
  })

  test('follows reorgDepth blocks back after it caught up, and no more', async () => {
    for (const depth of [64, 65]) {
      const chain = createChain(1_000)
      const { seen, over, stop } = take(watchLogs(createChainClient(chain), { fromBlock: 0 }))
      await vi.advanceTimersByTimeAsync(1_000)
      expect(logsLeft(seen)).toEqual(chain.logs().map(placeOf))
      chain.reorg(depth, depth + 1)
      await vi.advanceTimersByTimeAsync(12_000)
      if (depth > 64) await expect(over).rejects.toMatchObject({ kind: 'badResponse' })
      else {
        expect(logsLeft(seen)).toEqual(chain.logs().map(placeOf))
        await stop()
      }
    }
  })

  test('rejects the logs of a node that does not know filters by hash', async () => {
    const chain = createChain([1, 1, 1])
    const old: ReorgChain = {
      ...chain,
      respond: (method, params) =>
        method === 'eth_getLogs' ? Promise.resolve(chain.logs(3)) : chain.respond(method, params),
    }
    const { over } = take(watchLogs(createChainClient(old), { fromBlock: 1 }))
    await vi.advanceTimersByTimeAsync(1_000)
    await expect(over).rejects.toMatchObject({ kind: 'badResponse' })
  })

  test('ends with the canonical logs, each exactly once, if the chain changes between any two requests', async () => {
    let reorgs = 0
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 300 }),
        fc.option(fc.nat(45), { nil: undefined }),
        fc.boolean(),
        fc.array(step, { minLength: 20, maxLength: 800, size: 'max' }),
        async (blocks, fromBlock, one, script) => {
          const chain = createChain(blocks)
          const left = play(chain, script)
          let first: number | undefined
          const { respond } = chain
          // The latest block at the start.
          const client = createChainClient({
            ...chain,
            respond: async (method, params) => {
              const result = await respond(method, params)
              if (params[0] === 'latest') first ??= Number((result as { number: Hex }).number)
              return result
            },
          })
          const { seen, stop } = take(
            watchLogs(client, {
              ...(one && { topics: [topicOf(0)] }),
              ...(fromBlock !== undefined && { fromBlock }),
            }),
          )
          await untilQuiet(left)
          await stop()
          const canonical = chain.logs(fromBlock ?? first).filter(({ topics }) => !one || topics[0] === topicOf(0))
          expect(logsLeft(seen)).toEqual(canonical.map(placeOf))
          reorgs += seen.filter((event) => event.type === 'reorg' && event.removed.length > 0).length
        },
      ),
      { numRuns: 300 },
    )
    expect(reorgs).toBeGreaterThan(150)
  })

  test('does so over HTTP, too', async () => {
    vi.useRealTimers()
    const chain = createChain(150)
    const script = fc.sample(fc.array(step, { minLength: 800, maxLength: 800 }), { numRuns: 1, seed: 7 })[0] ?? []
    const left = play(chain, script)
    const server = await serveChain(chain)
    const client = createClient({ url: server.url, retry: { baseMs: 1 } })
    const logs = take(watchLogs(client, { fromBlock: 1, pollingIntervalMs: 10 }))
    const blocks = take(watchBlocks(client, { fromBlock: 1, pollingIntervalMs: 10 }))
    await vi.waitFor(() => expect(left()).toBe(0), { timeout: 60_000 })
    // A head below the reported blocks is accepted only after many seconds.
    chain.mine(20)
    await vi.waitFor(
      () => {
        expect(logsLeft(logs.seen)).toEqual(chain.logs(1).map(placeOf))
        expect(blocksLeft(blocks.seen).map(({ hash }) => hash)).toEqual(chain.blocks.slice(1).map(({ hash }) => hash))
      },
      { timeout: 30_000 },
    )
    await Promise.all([logs.stop(), blocks.stop()])
    await vi.waitFor(() => expect(server.open()).toBe(0), { timeout: 30_000 })
    client.close()
    await server.close()
  }, 120_000)
})

type Watch = (...args: Parameters<typeof watchLogs>) => AsyncGenerator<BlockEvent | LogEvent, void, undefined>

describe.each<readonly [string, Watch]>([
  ['watchBlocks', watchBlocks],
  ['watchLogs', watchLogs],
])('%s', (_, watch) => {
  test('never has two polls in flight, and none while an event is processed', async () => {
    const chain = createChain(Array.from({ length: 5 }, () => 1))
    let polls = 0
    let most = 0
    chain.before = async (__, params) => {
      if (params[0] !== 'latest') return
      most = Math.max(most, ++polls)
      await new Promise((resolve) => setTimeout(resolve, 3_000))
      polls--
    }
    const events = watch(createChainClient(chain), { pollingIntervalMs: 100 })
    const { value } = await Promise.all([events.next(), vi.advanceTimersByTimeAsync(10_000)]).then(([first]) => first)
    expect(value?.type).toMatch(/block|log/)
    const requests = chain.requests.length
    await vi.advanceTimersByTimeAsync(60_000)
    expect(chain.requests).toHaveLength(requests)
    chain.mine([1])
    const [next] = await Promise.all([events.next(), vi.advanceTimersByTimeAsync(10_000)])
    expect(next.done).toBe(false)
    await events.return()
    expect(most).toBe(1)
    await vi.advanceTimersByTimeAsync(10_000)
  })

  test('counts a fixed interval from poll to poll, however long one takes', async () => {
    const chain = createChain([1])
    const polls: number[] = []
    chain.before = async (__, params) => {
      if (params[0] !== 'latest') return
      polls.push(performance.now())
      await new Promise((resolve) => setTimeout(resolve, 3_000))
      chain.mine([1])
    }
    const { stop } = take(watch(createChainClient(chain), { pollingIntervalMs: 5_000 }))
    await vi.advanceTimersByTimeAsync(29_000)
    await stop()
    await vi.advanceTimersByTimeAsync(3_000)
    expect(polls.map((at) => Math.round((at - (polls[0] ?? 0)) / 1_000))).toEqual([0, 5, 10, 15, 20, 25])
  })

  test('continues after retryable failures, reports them, and waits longer each time', async () => {
    const chain = createChain(5)
    const { seen, stop, over } = take(
      watch(createChainClient(chain), { fromBlock: 5, onError: (failure: WatchFailure) => reported.push(failure) }),
    )
    const reported: WatchFailure[] = []
    await vi.advanceTimersByTimeAsync(1_000)
    const before = seen.length
    chain.before = () => {
      throw new NodeError('network', { code: 0, message: 'reset' })
    }
    await vi.advanceTimersByTimeAsync(100_000)
    expect(reported.map(({ failures, waitMs }) => [failures, waitMs]).slice(0, 7)).toEqual([
      [1, 500],
      [2, 1_000],
      [3, 2_000],
      [4, 4_000],
      [5, 8_000],
      [6, 16_000],
      [7, 30_000],
    ])
    expect(reported[0]?.error.kind).toBe('network')
    chain.before = () => {}
    chain.mine([1, 1, 1])
    await vi.advanceTimersByTimeAsync(60_000)
    expect(seen).toHaveLength(before + 3)
    chain.before = () => {
      chain.before = () => {}
      throw new NodeError('throttled', { code: 429, message: 'slow down', retryAfterMs: 77_000 })
    }
    chain.mine([1])
    await vi.advanceTimersByTimeAsync(70_000)
    expect(reported.at(-1)).toMatchObject({ failures: 1, waitMs: 77_000 })
    const { length } = chain.requests
    expect(seen).toHaveLength(before + 3)
    await vi.advanceTimersByTimeAsync(20_000)
    expect(chain.requests.length).toBeGreaterThan(length)
    expect(seen).toHaveLength(before + 4)
    await stop()
    await over
  })

  test('ends with a failure that is not retryable, and with an error that onError throws', async () => {
    const chain = createChain(5)
    chain.before = () => {
      throw new NodeError('auth', { code: -32_000, message: 'no such key' })
    }
    const failed = take(watch(createChainClient(chain)))
    await vi.advanceTimersByTimeAsync(1)
    await expect(failed.over).rejects.toMatchObject({ kind: 'auth' })
    chain.before = () => {
      throw new NodeError('throttled', { code: 429, message: 'slow down' })
    }
    const ended = take(
      watch(createChainClient(chain), {
        onError: ({ failures }: WatchFailure) => {
          if (failures === 3) throw new Error('I give up')
        },
      }),
    )
    await vi.advanceTimersByTimeAsync(5_000)
    await expect(ended.over).rejects.toThrow('I give up')
    expect(chain.requests).toHaveLength(4)
  })

  test('ends when its transport is closed', async () => {
    const transport = createChainTransport(createChain(5))
    const { over } = take(watch(createClient(transport)))
    await vi.advanceTimersByTimeAsync(1_000)
    transport.close()
    await vi.advanceTimersByTimeAsync(12_000)
    await expect(over).rejects.toMatchObject({ kind: 'aborted' })
  })

  test('ends with the reason of the signal at every await', async () => {
    for (let abortAt = 0; abortAt < 40; abortAt++) {
      const chain = createChain(6)
      const controller = new AbortController()
      const reason = { at: abortAt }
      let requests = 0
      chain.before = () => {
        if (requests++ === abortAt) controller.abort(reason)
        if (requests > abortAt + 1) throw new Error('requested after the abort')
        if (requests % 6 === 0) chain.reorg(4, 6)
      }
      const { over } = take(watch(createChainClient(chain), { fromBlock: 0, signal: controller.signal }))
      await vi.advanceTimersByTimeAsync(300_000)
      await expect(over).rejects.toBe(reason)
      expect(vi.getTimerCount()).toBe(0)
    }
    // And while it pauses.
    for (const ms of [0, 100, 1_000]) {
      const controller = new AbortController()
      const { over } = take(watch(createChainClient(createChain(6)), { signal: controller.signal }))
      await vi.advanceTimersByTimeAsync(ms)
      controller.abort('enough')
      await expect(over).rejects.toBe('enough')
      expect(vi.getTimerCount()).toBe(0)
    }
  })

  test('stops at once by return() while it pauses and while it asks, and by break', async () => {
    const chain = createChain(Array.from({ length: 5 }, () => 1))
    const paused = watch(createChainClient(chain))
    await paused.next()
    const pending = paused.next()
    await vi.advanceTimersByTimeAsync(10)
    expect(await paused.return()).toEqual({ done: true, value: undefined })
    expect(await pending).toEqual({ done: true, value: undefined })
    expect(vi.getTimerCount()).toBe(0)

    chain.before = () => new Promise(() => {})
    const asking = watch(createChainClient(chain))
    const never = asking.next()
    await vi.advanceTimersByTimeAsync(10)
    await asking.return()
    expect(await never).toEqual({ done: true, value: undefined })

    chain.before = () => {}
    for await (const event of watch(createChainClient(chain))) {
      expect(event.type).toMatch(/block|log/)
      break
    }
  })

  test.each([
    ['fromBlock', { fromBlock: -1 }],
    ['fromBlock', { fromBlock: 'pending' as never }],
    ['pollingIntervalMs', { pollingIntervalMs: 9 }],
    ['pollingIntervalMs', { pollingIntervalMs: 2 ** 31 }],
    ['reorgDepth', { reorgDepth: 0 }],
    ['reorgDepth', { reorgDepth: 1_025 }],
    ['onError', { onError: 'loud' as never }],
  ])('rejects a wrong %s at once: %o', (name, wrong) => {
    let caught: unknown
    try {
      watch(createChainClient(createReorgChain()), wrong)
    } catch (error) {
      caught = error
    }
    expect(isKeyrailError(caught, 'invalidRequest')).toBe(true)
    expect((caught as KeyrailError).message).toContain(name)
  })
})

describe('the adaptive interval', () => {
  /** Mines by the clock. Returns the polls per block and how late a block is reported, in milliseconds. */
  const measure = async (blockMs: number, skips: (block: number) => boolean = () => false) => {
    const chain = createReorgChain(blockMs / 1_000)
    const minedAt = new Map<number, number>()
    let slot = 0
    const timer = setInterval(() => {
      if (skips(++slot)) return
      chain.mine([0])
      minedAt.set(chain.head().number, performance.now())
    }, blockMs)
    let late = 0
    let seen = 0
    const events = watchBlocks(createChainClient(chain))
    const over = (async () => {
      for await (const event of events) {
        const at = event.type === 'block' ? minedAt.get(Number(event.block.number)) : undefined
        if (at === undefined) continue
        late += performance.now() - at
        seen++
      }
    })()
    await vi.advanceTimersByTimeAsync(blockMs * 20)
    late = seen = chain.requests.length = 0
    await vi.advanceTimersByTimeAsync(blockMs * 200)
    const polls = chain.requests.filter(({ params }) => params[0] === 'latest').length
    clearInterval(timer)
    await events.return()
    await over
    return { pollsPerBlock: polls / seen, lateMs: late / seen, seen }
  }

  test.each([
    [12_000, 2.5, 1_500],
    [5_000, 3, 700],
    [2_000, 3, 300],
    [1_000, 3, 250],
    [250, 1.2, 400],
  ])('needs few polls and finds blocks soon at a block time of %i ms', async (blockMs, mostPolls, mostLate) => {
    const { pollsPerBlock, lateMs, seen } = await measure(blockMs)
    expect(seen).toBeGreaterThan(195)
    expect(pollsPerBlock).toBeLessThan(mostPolls)
    expect(lateMs).toBeLessThan(mostLate)
  })

  test('keeps its pace where slots stay empty', async () => {
    const { pollsPerBlock, lateMs } = await measure(12_000, (slot) => slot % 7 === 0)
    expect(pollsPerBlock).toBeLessThan(4)
    expect(lateMs).toBeLessThan(2_000)
  })

  test('polls at least every 4 s when there are no new blocks, and not more often than needed', async () => {
    const chain = createChain(5)
    const { stop } = take(watchBlocks(createChainClient(chain)))
    await vi.advanceTimersByTimeAsync(20_000)
    chain.requests.length = 0
    await vi.advanceTimersByTimeAsync(400_000)
    await stop()
    expect(chain.requests.length).toBeGreaterThanOrEqual(99)
    expect(chain.requests.length).toBeLessThanOrEqual(101)
  })
})
