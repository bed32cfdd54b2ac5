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
import { clientOfChain, contract, createReorgChain, NodeError, placeOf, serveChain, topicOf } from './reorgChain.ts'
import type { ReorgChain } from './reorgChain.ts'

const chainOf = (blocks: number | readonly number[]): ReorgChain => {
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

/** The blocks that were told and not taken back; fails where they were no chain at any time. */
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

/** The logs that were told and not taken back; fails where one was taken back that did not stand there. */
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

/** What a chain does between two requests: mostly nothing, so that a watcher gets to the head, where it hurts. */
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

/** Has the chain take a step before each answer, and another after it. Gives how many are left. */
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

/** Lets the clock run until the chain stands still and everything about it must have been seen. */
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
  test('tells the latest block first, then each that comes', async () => {
    const chain = chainOf(10)
    const { seen, stop } = take(watchBlocks(clientOfChain(chain)))
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
    const chain = chainOf(300)
    const past = take(watchBlocks(clientOfChain(chain), { fromBlock: 5 }))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(blocksLeft(past.seen)).toHaveLength(296)
    const future = take(watchBlocks(clientOfChain(chain), { fromBlock: 303n }))
    await vi.advanceTimersByTimeAsync(10_000)
    expect(future.seen).toEqual([])
    chain.mine(5)
    await vi.advanceTimersByTimeAsync(12_000)
    expect(blocksLeft(future.seen).map(({ number }) => number)).toEqual([303, 304, 305])
    const finalized = take(watchBlocks(clientOfChain(chain), { fromBlock: 'finalized' }))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(blocksLeft(finalized.seen)[0]?.number).toBe(273)
    await Promise.all([past.stop(), future.stop(), finalized.stop()])
  })

  test('gives whole transactions where they are asked for', async () => {
    const chain = chainOf(1)
    const events = watchBlocks(clientOfChain(chain), { includeTransactions: true })
    await events.next()
    await events.return()
    expect(chain.asked.at(-1)).toEqual({ method: 'eth_getBlockByNumber', params: ['latest', true] })
  })

  test('passes over what it missed where that is wanted', async () => {
    const chain = chainOf(10)
    const { seen, stop } = take(watchBlocks(clientOfChain(chain), { emitMissedBlocks: false }))
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

  test('does not go back to what it passed over where the chain gets shorter', async () => {
    const chain = chainOf(10)
    const { seen, stop } = take(watchBlocks(clientOfChain(chain), { emitMissedBlocks: false }))
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
    const chain = chainOf(30)
    const old = chain.blocks[27]?.hash
    chain.reorg(5, 6)
    let told = false
    const balanced: ReorgChain = {
      ...chain,
      answer: (method, params) => {
        if (told || params[0] !== '0x1b') return chain.answer(method, params)
        told = true
        return chain.answer('eth_getBlockByHash', [old])
      },
    }
    const { seen, stop } = take(watchBlocks(clientOfChain(balanced), { fromBlock: 24 }))
    await vi.advanceTimersByTimeAsync(12_000)
    await stop()
    expect(told).toBe(true)
    expect(seen.map(({ type }) => type)).toEqual(Array.from({ length: 8 }, () => 'block'))
    expect(blocksLeft(seen)).toHaveLength(8)
  })

  test('tells a reorganization newest first, then what came in its place', async () => {
    const chain = chainOf(10)
    const { seen, stop } = take(watchBlocks(clientOfChain(chain), { fromBlock: 8 }))
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

  test('follows a reorganization to below where it began, and one to a shorter chain that stays', async () => {
    const chain = chainOf(20)
    const { seen, stop } = take(watchBlocks(clientOfChain(chain)))
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
    const chain = chainOf(30)
    let turn = 0
    // A balancer in front of three nodes, one of which is three blocks behind.
    const balanced: ReorgChain = {
      ...chain,
      answer: async (method, params) => {
        const head = chain.blocks.length - 1 - (turn++ % 3 === 0 ? 3 : 0)
        const [block, ...rest] = params
        if (block === 'latest') return chain.answer(method, [`0x${head.toString(16)}`, ...rest])
        return Number(block) > head && String(block).length < 60 ? null : chain.answer(method, params)
      },
    }
    const { seen, stop } = take(watchBlocks(clientOfChain(balanced), { fromBlock: 20 }))
    for (let i = 0; i < 40; i++) {
      chain.mine(1)
      await vi.advanceTimersByTimeAsync(12_000)
    }
    await vi.advanceTimersByTimeAsync(12_000)
    await stop()
    expect(seen.filter(({ type }) => type === 'reorg')).toEqual([])
    expect(blocksLeft(seen)).toHaveLength(51)
  })

  test('refuses blocks that were not asked for, however long a node goes on with them', async () => {
    for (const method of ['eth_getBlockByHash', 'eth_getBlockByNumber']) {
      const chain = chainOf(30)
      const stubborn: ReorgChain = {
        ...chain,
        answer: (asked, params) =>
          asked === method && params[0] !== 'latest'
            ? chain.answer('eth_getBlockByHash', [chain.blocks[12]?.hash])
            : chain.answer(asked, params),
      }
      const { over } = take(watchBlocks(clientOfChain(stubborn), { fromBlock: 28 }))
      await vi.advanceTimersByTimeAsync(1_000)
      chain.reorg(2, 3)
      await vi.advanceTimersByTimeAsync(12_000)
      await expect(over).rejects.toMatchObject({ kind: 'badResponse' })
    }
  })

  test('is not hurried by a short interval into taking a lagging node for a shorter chain', async () => {
    const chain = chainOf(30)
    const { answer } = chain
    let lag = 0
    const lagging: ReorgChain = {
      ...chain,
      answer: (method, [block, ...rest]) =>
        answer(method, [block === 'latest' ? `0x${(chain.head().number - lag).toString(16)}` : block, ...rest]),
    }
    const { seen, stop } = take(watchBlocks(clientOfChain(lagging), { fromBlock: 20, pollingIntervalMs: 10 }))
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
    const chain = chainOf(30)
    const { seen, over } = take(watchBlocks(clientOfChain(chain), { fromBlock: 1, reorgDepth: 5 }))
    await vi.advanceTimersByTimeAsync(1_000)
    chain.reorg(5, 6)
    await vi.advanceTimersByTimeAsync(12_000)
    expect(blocksLeft(seen).map(({ hash }) => hash)).toEqual(chain.blocks.slice(1).map(({ hash }) => hash))
    chain.reorg(6, 7)
    await vi.advanceTimersByTimeAsync(12_000)
    await expect(over).rejects.toMatchObject({ kind: 'badResponse', retryable: false })
    await expect(over).rejects.toThrow('reorgDepth (5 blocks)')
  })

  test('ends as the canonical chain, whatever that does between any two requests', async () => {
    let reorgs = 0
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 40 }),
        fc.option(fc.nat(45), { nil: undefined }),
        fc.array(step, { minLength: 20, maxLength: 800, size: 'max' }),
        async (blocks, fromBlock, script) => {
          const chain = chainOf(blocks)
          const left = play(chain, script)
          const { seen, stop } = take(
            watchBlocks(clientOfChain(chain), { ...(fromBlock !== undefined && { fromBlock }) }),
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
  test('tells the logs that match from the latest block on', async () => {
    const chain = chainOf([1, 2, 3])
    const filter = { address: contract, topics: [topicOf(1)] }
    const { seen, stop } = take(watchLogs(clientOfChain(chain), filter))
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

  test('takes back the logs of a reorganization once, newest first, and tells of one that held none', async () => {
    const chain = chainOf([1, 2, 0])
    const { seen, stop } = take(watchLogs(clientOfChain(chain), { fromBlock: 0 }))
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
    const chain = chainOf(5)
    const { stop } = take(watchLogs(clientOfChain(chain), { pollingIntervalMs: 12_000 }))
    await vi.advanceTimersByTimeAsync(6_000)
    chain.asked.length = 0
    for (let i = 0; i < 20; i++) {
      chain.mine(1)
      await vi.advanceTimersByTimeAsync(12_000)
    }
    await stop()
    expect(chain.asked).toHaveLength(40)
  })

  test('reads what is far below the head in ranges, and goes on from a failure in there', async () => {
    const chain = chainOf(5_000)
    let calls = 0
    chain.before = (method) => {
      if (method === 'eth_getLogs' && ++calls % 5 === 2 && calls < 100)
        throw new NodeError('unavailable', { code: -32_000, message: 'busy' })
    }
    const troubles: WatchFailure[] = []
    const watched = watchLogs(clientOfChain(chain), { fromBlock: 3, onError: (trouble) => troubles.push(trouble) })
    const { seen, stop } = take(watched)
    await vi.advanceTimersByTimeAsync(60_000)
    chain.mine(1)
    chain.reorg(12, 13)
    await vi.advanceTimersByTimeAsync(120_000)
    await stop()
    expect(logsLeft(seen)).toEqual(chain.logs(3).map(placeOf))
    expect(troubles.length).toBeGreaterThan(1)
    expect(chain.asked.length).toBeLessThan(400)
  })

  test('catches up in ranges after a long pause, also where the chain was reorganized meanwhile', async () => {
    for (const depth of [0, 10]) {
      const chain = chainOf(50)
      const { seen, stop } = take(watchLogs(clientOfChain(chain), { fromBlock: 20 }))
      await vi.advanceTimersByTimeAsync(1_000)
      if (depth > 0) chain.reorg(depth)
      chain.mine(4_000)
      chain.asked.length = 0
      await vi.advanceTimersByTimeAsync(30_000)
      chain.reorg(12, 14)
      await vi.advanceTimersByTimeAsync(30_000)
      await stop()
      expect(logsLeft(seen)).toEqual(chain.logs(20).map(placeOf))
      expect(chain.asked.length).toBeLessThan(400)
    }
  })

  test('catches up a second time from where it is, not from where it once failed', async () => {
    const chain = chainOf(5_000)
    chain.before = (method, [filter]) => {
      if (method !== 'eth_getLogs' || Number((filter as { fromBlock?: Hex }).fromBlock) < 500) return
      chain.before = () => {}
      throw new NodeError('network', { code: 0, message: 'reset' })
    }
    const { seen, stop } = take(watchLogs(clientOfChain(chain), { fromBlock: 1 }))
    await vi.advanceTimersByTimeAsync(10_000)
    chain.mine(1_000)
    await vi.advanceTimersByTimeAsync(30_000)
    await stop()
    expect(logsLeft(seen)).toEqual(chain.logs(1).map(placeOf))
  })

  test('follows reorgDepth blocks back after it caught up, and no more', async () => {
    for (const depth of [64, 65]) {
      const chain = chainOf(1_000)
      const { seen, over, stop } = take(watchLogs(clientOfChain(chain), { fromBlock: 0 }))
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

  test('refuses the logs of a node that does not know filters by hash', async () => {
    const chain = chainOf([1, 1, 1])
    const old: ReorgChain = {
      ...chain,
      answer: (method, params) =>
        method === 'eth_getLogs' ? Promise.resolve(chain.logs(3)) : chain.answer(method, params),
    }
    const { over } = take(watchLogs(clientOfChain(old), { fromBlock: 1 }))
    await vi.advanceTimersByTimeAsync(1_000)
    await expect(over).rejects.toMatchObject({ kind: 'badResponse' })
  })

  test('ends as the canonical logs, each exactly once, whatever the chain does between any two requests', async () => {
    let reorgs = 0
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 300 }),
        fc.option(fc.nat(45), { nil: undefined }),
        fc.boolean(),
        fc.array(step, { minLength: 20, maxLength: 800, size: 'max' }),
        async (blocks, fromBlock, one, script) => {
          const chain = chainOf(blocks)
          const left = play(chain, script)
          let first: number | undefined
          const { answer } = chain
          // What it takes for the latest block at the start.
          const client = clientOfChain({
            ...chain,
            answer: async (method, params) => {
              const result = await answer(method, params)
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
    const chain = chainOf(150)
    const script = fc.sample(fc.array(step, { minLength: 800, maxLength: 800 }), { numRuns: 1, seed: 7 })[0] ?? []
    const left = play(chain, script)
    const server = await serveChain(chain)
    const client = createClient({ url: server.url, retry: { baseMs: 1 } })
    const logs = take(watchLogs(client, { fromBlock: 1, pollingIntervalMs: 10 }))
    const blocks = take(watchBlocks(client, { fromBlock: 1, pollingIntervalMs: 10 }))
    await vi.waitFor(() => expect(left()).toBe(0), { timeout: 60_000 })
    // A chain that stands still below what was seen is believed only after many seconds.
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
  test('never has two looks under way, and none while an event is dealt with', async () => {
    const chain = chainOf(Array.from({ length: 5 }, () => 1))
    let looks = 0
    let most = 0
    chain.before = async (__, params) => {
      if (params[0] !== 'latest') return
      most = Math.max(most, ++looks)
      await new Promise((resolve) => setTimeout(resolve, 3_000))
      looks--
    }
    const events = watch(clientOfChain(chain), { pollingIntervalMs: 100 })
    const { value } = await Promise.all([events.next(), vi.advanceTimersByTimeAsync(10_000)]).then(([first]) => first)
    expect(value?.type).toMatch(/block|log/)
    const asked = chain.asked.length
    await vi.advanceTimersByTimeAsync(60_000)
    expect(chain.asked).toHaveLength(asked)
    chain.mine([1])
    const [next] = await Promise.all([events.next(), vi.advanceTimersByTimeAsync(10_000)])
    expect(next.done).toBe(false)
    await events.return()
    expect(most).toBe(1)
    await vi.advanceTimersByTimeAsync(10_000)
  })

  test('counts a fixed interval from look to look, however long one takes', async () => {
    const chain = chainOf([1])
    const looks: number[] = []
    chain.before = async (__, params) => {
      if (params[0] !== 'latest') return
      looks.push(performance.now())
      await new Promise((resolve) => setTimeout(resolve, 3_000))
      chain.mine([1])
    }
    const { stop } = take(watch(clientOfChain(chain), { pollingIntervalMs: 5_000 }))
    await vi.advanceTimersByTimeAsync(29_000)
    await stop()
    await vi.advanceTimersByTimeAsync(3_000)
    expect(looks.map((at) => Math.round((at - (looks[0] ?? 0)) / 1_000))).toEqual([0, 5, 10, 15, 20, 25])
  })

  test('survives failures that may pass, tells of them, and waits longer each time', async () => {
    const chain = chainOf(5)
    const { seen, stop, over } = take(
      watch(clientOfChain(chain), { fromBlock: 5, onError: (trouble: WatchFailure) => troubles.push(trouble) }),
    )
    const troubles: WatchFailure[] = []
    await vi.advanceTimersByTimeAsync(1_000)
    const before = seen.length
    chain.before = () => {
      throw new NodeError('network', { code: 0, message: 'reset' })
    }
    await vi.advanceTimersByTimeAsync(100_000)
    expect(troubles.map(({ failures, waitMs }) => [failures, waitMs]).slice(0, 7)).toEqual([
      [1, 500],
      [2, 1_000],
      [3, 2_000],
      [4, 4_000],
      [5, 8_000],
      [6, 16_000],
      [7, 30_000],
    ])
    expect(troubles[0]?.error.kind).toBe('network')
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
    expect(troubles.at(-1)).toMatchObject({ failures: 1, waitMs: 77_000 })
    const { length } = chain.asked
    expect(seen).toHaveLength(before + 3)
    await vi.advanceTimersByTimeAsync(20_000)
    expect(chain.asked.length).toBeGreaterThan(length)
    expect(seen).toHaveLength(before + 4)
    await stop()
    await over
  })

  test('ends with a failure that will not pass, and with what onError throws', async () => {
    const chain = chainOf(5)
    chain.before = () => {
      throw new NodeError('auth', { code: -32_000, message: 'no such key' })
    }
    const failed = take(watch(clientOfChain(chain)))
    await vi.advanceTimersByTimeAsync(1)
    await expect(failed.over).rejects.toMatchObject({ kind: 'auth' })
    chain.before = () => {
      throw new NodeError('throttled', { code: 429, message: 'slow down' })
    }
    const given = take(
      watch(clientOfChain(chain), {
        onError: ({ failures }: WatchFailure) => {
          if (failures === 3) throw new Error('I give up')
        },
      }),
    )
    await vi.advanceTimersByTimeAsync(5_000)
    await expect(given.over).rejects.toThrow('I give up')
    expect(chain.asked).toHaveLength(4)
  })

  test('ends where its client is closed', async () => {
    const client = clientOfChain(chainOf(5))
    const { over } = take(watch(client))
    await vi.advanceTimersByTimeAsync(1_000)
    client.close()
    await vi.advanceTimersByTimeAsync(12_000)
    await expect(over).rejects.toMatchObject({ kind: 'aborted' })
  })

  test('ends with the reason of the signal at every point where it waits', async () => {
    for (let abortAt = 0; abortAt < 40; abortAt++) {
      const chain = chainOf(6)
      const controller = new AbortController()
      const reason = { at: abortAt }
      let asked = 0
      chain.before = () => {
        if (asked++ === abortAt) controller.abort(reason)
        if (asked > abortAt + 1) throw new Error('asked after the abort')
        if (asked % 6 === 0) chain.reorg(4, 6)
      }
      const { over } = take(watch(clientOfChain(chain), { fromBlock: 0, signal: controller.signal }))
      await vi.advanceTimersByTimeAsync(300_000)
      await expect(over).rejects.toBe(reason)
      expect(vi.getTimerCount()).toBe(0)
    }
    // And while it pauses.
    for (const ms of [0, 100, 1_000]) {
      const controller = new AbortController()
      const { over } = take(watch(clientOfChain(chainOf(6)), { signal: controller.signal }))
      await vi.advanceTimersByTimeAsync(ms)
      controller.abort('enough')
      await expect(over).rejects.toBe('enough')
      expect(vi.getTimerCount()).toBe(0)
    }
  })

  test('stops at once by return() while it pauses and while it asks, and by break', async () => {
    const chain = chainOf(Array.from({ length: 5 }, () => 1))
    const paused = watch(clientOfChain(chain))
    await paused.next()
    const pending = paused.next()
    await vi.advanceTimersByTimeAsync(10)
    expect(await paused.return()).toEqual({ done: true, value: undefined })
    expect(await pending).toEqual({ done: true, value: undefined })
    expect(vi.getTimerCount()).toBe(0)

    chain.before = () => new Promise(() => {})
    const asking = watch(clientOfChain(chain))
    const never = asking.next()
    await vi.advanceTimersByTimeAsync(10)
    await asking.return()
    expect(await never).toEqual({ done: true, value: undefined })

    chain.before = () => {}
    for await (const event of watch(clientOfChain(chain))) {
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
  ])('refuses a wrong %s at once: %o', (name, wrong) => {
    let caught: unknown
    try {
      watch(clientOfChain(createReorgChain()), wrong)
    } catch (error) {
      caught = error
    }
    expect(isKeyrailError(caught, 'invalidRequest')).toBe(true)
    expect((caught as KeyrailError).message).toContain(name)
  })
})

describe('the adaptive interval', () => {
  /** Mines by the clock; tells the looks a block costs and how late a block is seen, in milliseconds. */
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
    const events = watchBlocks(clientOfChain(chain))
    const over = (async () => {
      for await (const event of events) {
        const at = event.type === 'block' ? minedAt.get(Number(event.block.number)) : undefined
        if (at === undefined) continue
        late += performance.now() - at
        seen++
      }
    })()
    await vi.advanceTimersByTimeAsync(blockMs * 20)
    late = seen = chain.asked.length = 0
    await vi.advanceTimersByTimeAsync(blockMs * 200)
    const looks = chain.asked.filter(({ params }) => params[0] === 'latest').length
    clearInterval(timer)
    await events.return()
    await over
    return { looksPerBlock: looks / seen, lateMs: late / seen, seen }
  }

  test.each([
    [12_000, 2.5, 1_500],
    [5_000, 3, 700],
    [2_000, 3, 300],
    [1_000, 3, 250],
    [250, 1.2, 400],
  ])('costs few looks and finds blocks soon at a block time of %i ms', async (blockMs, mostLooks, mostLate) => {
    const { looksPerBlock, lateMs, seen } = await measure(blockMs)
    expect(seen).toBeGreaterThan(195)
    expect(looksPerBlock).toBeLessThan(mostLooks)
    expect(lateMs).toBeLessThan(mostLate)
  })

  test('keeps its pace where slots stay empty', async () => {
    const { looksPerBlock, lateMs } = await measure(12_000, (slot) => slot % 7 === 0)
    expect(looksPerBlock).toBeLessThan(4)
    expect(lateMs).toBeLessThan(2_000)
  })

  test('looks at least every 4 s at a chain that stands still, and not more often than it must', async () => {
    const chain = chainOf(5)
    const { stop } = take(watchBlocks(clientOfChain(chain)))
    await vi.advanceTimersByTimeAsync(20_000)
    chain.asked.length = 0
    await vi.advanceTimersByTimeAsync(400_000)
    await stop()
    expect(chain.asked.length).toBeGreaterThanOrEqual(99)
    expect(chain.asked.length).toBeLessThanOrEqual(101)
  })
})
