import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createChainTransport, createReorgChain, NodeError } from '../reorgChain.ts'
import { now } from '../../src/internal.ts'
import { isKeyrailError } from '../../src/index.ts'
import type {
  KeyrailError,
  Subscription,
  SubscriptionFailure,
  SubscriptionOptions,
  Transport,
} from '../../src/index.ts'
import { createChain, subscribeBlocks, subscribeLogs, take } from './followChain.ts'
import type { BlockStreamEvent, LogStreamEvent } from './followChain.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  // No subscription leaves a timer behind.
  if (vi.isFakeTimers()) expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

type Subscribe = (
  transport: Transport,
  options?: SubscriptionOptions,
) => Subscription<BlockStreamEvent | LogStreamEvent>

describe.each<readonly [string, Subscribe]>([
  ['a subscription to blocks', subscribeBlocks],
  ['a subscription to logs', subscribeLogs],
])('%s', (_, subscribe) => {
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
    const events = subscribe(createChainTransport(chain), { pollingIntervalMs: 100 })
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

  test('counts a fixed interval from poll to poll, even if a poll takes long', async () => {
    const chain = createChain([1])
    const polls: number[] = []
    chain.before = async (__, params) => {
      if (params[0] !== 'latest') return
      polls.push(performance.now())
      await new Promise((resolve) => setTimeout(resolve, 3_000))
      chain.mine([1])
    }
    const { stop } = take(subscribe(createChainTransport(chain), { pollingIntervalMs: 5_000 }))
    await vi.advanceTimersByTimeAsync(29_000)
    await stop()
    await vi.advanceTimersByTimeAsync(3_000)
    expect(polls.map((at) => Math.round((at - (polls[0] ?? 0)) / 1_000))).toEqual([0, 5, 10, 15, 20, 25])
  })

  test('continues after retryable failures, reports them, and waits longer each time', async () => {
    const chain = createChain(5)
    const { seen, stop, over } = take(
      subscribe(createChainTransport(chain), {
        fromBlock: 5,
        onError: (failure: SubscriptionFailure) => reported.push(failure),
      }),
    )
    const reported: SubscriptionFailure[] = []
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

  test('sends nothing, and lets the clock of the process go its pace, while a server asks for 30 days', async () => {
    const chain = createChain(5)
    chain.before = () => {
      throw new NodeError('throttled', { code: 429, message: 'slow down', retryAfterMs: 30 * 86_400_000 })
    }
    const reported: SubscriptionFailure[] = []
    const { over, stop } = take(
      subscribe(createChainTransport(chain), { onError: (failure) => void reported.push(failure) }),
    )
    await vi.advanceTimersByTimeAsync(1_000)
    const before = now()
    const { length } = chain.requests
    await vi.advanceTimersByTimeAsync(60_000)
    expect(chain.requests).toHaveLength(length)
    expect(now() - before).toBe(60_000)
    expect(reported).toHaveLength(1)
    await stop()
    await over
  })

  test('ends with a failure that is not retryable, and with an error that onError throws', async () => {
    const chain = createChain(5)
    chain.before = () => {
      throw new NodeError('auth', { code: -32_000, message: 'no such key' })
    }
    const failed = take(subscribe(createChainTransport(chain)))
    await vi.advanceTimersByTimeAsync(1)
    await expect(failed.over).rejects.toMatchObject({ kind: 'auth' })
    chain.before = () => {
      throw new NodeError('throttled', { code: 429, message: 'slow down' })
    }
    const ended = take(
      subscribe(createChainTransport(chain), {
        onError: ({ failures }: SubscriptionFailure) => {
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
    const { over } = take(subscribe(transport))
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
      const { over } = take(subscribe(createChainTransport(chain), { fromBlock: 0, signal: controller.signal }))
      await vi.advanceTimersByTimeAsync(300_000)
      await expect(over).rejects.toBe(reason)
      expect(vi.getTimerCount()).toBe(0)
    }
    // And while it pauses.
    for (const ms of [0, 100, 1_000]) {
      const controller = new AbortController()
      const { over } = take(subscribe(createChainTransport(createChain(6)), { signal: controller.signal }))
      await vi.advanceTimersByTimeAsync(ms)
      controller.abort('enough')
      await expect(over).rejects.toBe('enough')
      expect(vi.getTimerCount()).toBe(0)
    }
  })

  test('stops at once by return() during a pause and during a poll, and by break', async () => {
    const chain = createChain(Array.from({ length: 5 }, () => 1))
    const paused = subscribe(createChainTransport(chain))
    await paused.next()
    const pending = paused.next()
    await vi.advanceTimersByTimeAsync(10)
    expect(await paused.return()).toEqual({ done: true, value: undefined })
    expect(await pending).toEqual({ done: true, value: undefined })
    expect(vi.getTimerCount()).toBe(0)

    chain.before = () => new Promise(() => {})
    const subscription = subscribe(createChainTransport(chain))
    const never = subscription.next()
    await vi.advanceTimersByTimeAsync(10)
    await subscription.return()
    expect(await never).toEqual({ done: true, value: undefined })

    chain.before = () => {}
    for await (const event of subscribe(createChainTransport(chain))) {
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
      subscribe(createChainTransport(createReorgChain()), wrong)
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
    const events = subscribeBlocks(createChainTransport(chain))
    const over = (async () => {
      for await (const event of events) {
        const at = event.type === 'block' ? minedAt.get(Number(event.header.number)) : undefined
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

  test('keeps its pace if slots stay empty', async () => {
    const { pollsPerBlock, lateMs } = await measure(12_000, (slot) => slot % 7 === 0)
    expect(pollsPerBlock).toBeLessThan(4)
    expect(lateMs).toBeLessThan(2_000)
  })

  test('polls at least every 4 s when there are no new blocks, and not more often than needed', async () => {
    const chain = createChain(5)
    const { stop } = take(subscribeBlocks(createChainTransport(chain)))
    await vi.advanceTimersByTimeAsync(20_000)
    chain.requests.length = 0
    await vi.advanceTimersByTimeAsync(400_000)
    await stop()
    expect(chain.requests.length).toBeGreaterThanOrEqual(99)
    expect(chain.requests.length).toBeLessThanOrEqual(101)
  })
})
