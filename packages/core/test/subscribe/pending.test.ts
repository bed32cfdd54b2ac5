import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSubscription, isKeyrailError, KeyrailError } from '../../src/index.ts'
import type { SubscriptionFailure, Transport } from '../../src/index.ts'
import { createChainTransport, createReorgChain, NodeError } from '../reorgChain.ts'
import { take } from './followChain.ts'
import { serveSubscriptions } from './serveSubscriptions.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

const toHash = (index: number): string => `0x${index.toString(16).padStart(64, '0')}`

/** A node with filters for pending transactions. */
const createPool = (): {
  readonly transport: Transport
  readonly add: (count: number) => void
  readonly dropFilters: () => void
  readonly methods: string[]
  failure: NodeError | undefined
} => {
  const filters = new Map<string, string[]>()
  const methods: string[] = []
  let added = 0
  let created = 0
  const respond = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    methods.push(method)
    if (pool.failure) throw pool.failure
    if (method === 'eth_newPendingTransactionFilter') {
      const id = `0x${(++created).toString(16)}`
      filters.set(id, [])
      return id
    }
    const filter = filters.get(params[0] as string)
    if (!filter) throw new NodeError('unknown', { code: -32_000, message: 'filter not found' })
    return filter.splice(0)
  }
  const pool = {
    transport: createChainTransport({ ...createReorgChain(), respond }),
    add: (count: number) => {
      for (let i = 0; i < count; i++) {
        added++
        for (const filter of filters.values()) filter.push(toHash(added))
      }
    },
    dropFilters: () => filters.clear(),
    methods,
    failure: undefined as NodeError | undefined,
  }
  return pool
}

describe('a subscription to pending transactions', () => {
  test('polls a filter each second, and creates another one if the node has dropped it', async () => {
    const pool = createPool()
    const { seen, stop } = take(createSubscription(pool.transport, { pending: true }))
    await vi.advanceTimersByTimeAsync(1)
    pool.add(2)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(seen).toEqual([1, 2].map((index) => ({ type: 'transaction', hash: toHash(index) })))
    pool.dropFilters()
    await vi.advanceTimersByTimeAsync(1_000)
    pool.add(1)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(seen.map(({ hash }) => hash)).toEqual([1, 2, 3].map(toHash))
    expect(pool.methods.filter((method) => method === 'eth_newPendingTransactionFilter')).toHaveLength(2)
    await stop()
  })

  test('continues after retryable failures, and ends with others', async () => {
    const pool = createPool()
    const failures: SubscriptionFailure[] = []
    const { seen, over } = take(
      createSubscription(pool.transport, { pending: true }, { onError: (failure) => failures.push(failure) }),
    )
    await vi.advanceTimersByTimeAsync(1)
    pool.failure = new NodeError('network', { code: 0, message: 'reset' })
    await vi.advanceTimersByTimeAsync(3_000)
    expect(failures.map(({ waitMs }) => waitMs)).toEqual([500, 1_000, 2_000])
    pool.failure = undefined
    pool.add(1)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(seen).toHaveLength(1)
    pool.failure = new NodeError('auth', { code: -32_000, message: 'no such key' })
    await vi.advanceTimersByTimeAsync(1_000)
    await expect(over).rejects.toMatchObject({ kind: 'auth' })
  })

  test('polls if the server does not offer it over a socket', async () => {
    const pool = createPool()
    serveSubscriptions(pool.transport, async () => {
      throw Object.assign(new Error('no such subscription'), {
        name: 'KeyrailError',
        kind: 'invalidRequest',
        retryable: false,
        rpcError: { code: -32_602, message: 'no such subscription' },
      })
    })
    const { seen, stop } = take(createSubscription(pool.transport, { pending: true }, { pollingIntervalMs: 100 }))
    await vi.advanceTimersByTimeAsync(1)
    pool.add(1)
    await vi.advanceTimersByTimeAsync(100)
    expect(seen).toHaveLength(1)
    await stop()
  })

  describe('while connections fail', () => {
    const rejectConnections = (pool: ReturnType<typeof createPool>): (() => number) => {
      let attempts = 0
      serveSubscriptions(pool.transport, async () => {
        attempts++
        throw new KeyrailError('eth_subscribe failed: rejected', {
          kind: 'network',
          source: 'transport',
          retryable: true,
          method: 'eth_subscribe',
        })
      })
      return () => attempts
    }

    test('it polls, and tries again at longer and longer intervals', async () => {
      const pool = createPool()
      const countAttempts = rejectConnections(pool)
      const { seen, stop } = take(createSubscription(pool.transport, { pending: true }, { pollingIntervalMs: 100 }))
      for (let second = 0; second < 10; second++) {
        pool.add(1)
        await vi.advanceTimersByTimeAsync(1_000)
      }
      // One is missed at the start, and one may be missed each time a new filter replaces the last one.
      expect(seen.length).toBeGreaterThan(7)
      expect(countAttempts()).toBe(7)
      await stop()
    })

    test('a server without filters is not polled further, and the subscription continues', async () => {
      const pool = createPool()
      const countAttempts = rejectConnections(pool)
      pool.failure = new NodeError('methodUnavailable', { code: -32_601, message: 'no filters' })
      const { stop } = take(createSubscription(pool.transport, { pending: true }))
      await vi.advanceTimersByTimeAsync(4_000)
      // After 0, 0.5, 1.5 and 3.5 s.
      expect(countAttempts()).toBe(4)
      expect(pool.methods).toHaveLength(4)
      await stop()
    })
  })

  test('has no position, so a cursor and a first block are rejected', () => {
    for (const options of [{ cursor: '{"complete":true,"blocks":[]}' }, { fromBlock: 0 }]) {
      let caught: unknown
      try {
        createSubscription(createPool().transport, { pending: true }, options)
      } catch (error) {
        caught = error
      }
      expect(isKeyrailError(caught, 'invalidRequest')).toBe(true)
    }
  })
})
