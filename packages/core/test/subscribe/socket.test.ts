import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSubscription } from '../../src/index.ts'
import type { SubscriptionFailure } from '../../src/index.ts'
import { formatLogPosition } from '../reorgChain.ts'
import type { ReorgChain } from '../reorgChain.ts'
import { createFakeService } from './fakeService.ts'
import { blocksLeft, createChain, logsLeft, take } from './followChain.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  if (vi.isFakeTimers()) expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

/** Long enough for handlers and generators, too short for a poll. */
const turn = (): Promise<unknown> => vi.advanceTimersByTimeAsync(1)

const hashesFrom = (chain: ReorgChain, first: number) =>
  chain.blocks.slice(first).map(({ number, hash }) => ({ number, hash }))

describe('a subscription to a service of Keyrail', () => {
  test('reports blocks from the head on, with one call over HTTP, and undoes replaced ones', async () => {
    const chain = createChain(10)
    const service = createFakeService(chain)
    const { seen, stop } = take(createSubscription(service.transport, { blocks: true }))
    await turn()
    const [parent, head] = chain.blocks.slice(-2)
    expect(service.subscribed).toEqual([
      ['newHeads', { cursor: { number: '0xa', hashes: [head?.hash, parent?.hash] } }],
    ])
    chain.mine(3)
    service.send()
    await turn()
    chain.reorg(2, 3)
    service.send()
    await turn()
    expect(seen.map(({ type }) => type)).toEqual(['block', 'block', 'block', 'reorg', 'block', 'block', 'block'])
    expect(blocksLeft(seen)).toEqual(hashesFrom(chain, 11))
    expect(chain.requests).toHaveLength(1)
    await stop()
    expect(service.open()).toBe(0)
  })

  test('reports logs, and continues from its position over a new connection', async () => {
    const chain = createChain([1, 2])
    const service = createFakeService(chain)
    const failures: SubscriptionFailure[] = []
    const { seen, stop } = take(
      createSubscription(service.transport, { logs: {} }, { onError: (failure) => failures.push(failure) }),
    )
    await turn()
    chain.mine([2, 0, 3])
    service.send()
    await turn()
    expect(logsLeft(seen)).toEqual(chain.logs(3).map(formatLogPosition))
    service.cut()
    expect(failures).toEqual([])
    chain.reorg(1)
    chain.mine([1])
    await vi.advanceTimersByTimeAsync(3_000)
    expect(failures).toMatchObject([{ failures: 1, waitMs: 500, error: { kind: 'network' } }])
    expect(service.subscribed.at(-1)).toEqual([
      'logs',
      {},
      { cursor: { number: '0x6', hashes: expect.arrayContaining([chain.head().hash]) } },
    ])
    chain.mine([2])
    service.send()
    await turn()
    expect(logsLeft(seen)).toEqual(chain.logs(3).map(formatLogPosition))
    await stop()
  })

  test('reads older blocks by polling, and continues over the socket', async () => {
    const chain = createChain(1_000)
    const service = createFakeService(chain)
    const { seen, stop } = take(createSubscription(service.transport, { logs: {} }, { fromBlock: 5 }))
    await vi.advanceTimersByTimeAsync(100)
    expect(logsLeft(seen)).toEqual(chain.logs(5).map(formatLogPosition))
    expect(service.open()).toBe(1)
    chain.requests.length = 0
    chain.mine([3])
    service.send()
    await turn()
    expect(logsLeft(seen)).toEqual(chain.logs(5).map(formatLogPosition))
    expect(chain.requests).toEqual([])
    await stop()
  })

  test('waits for a first block in the future', async () => {
    const chain = createChain(10)
    const service = createFakeService(chain)
    const { seen, stop } = take(createSubscription(service.transport, { blocks: true }, { fromBlock: 13 }))
    await turn()
    chain.mine(5)
    service.send()
    await turn()
    expect(blocksLeft(seen)).toEqual(hashesFrom(chain, 13))
    await stop()
  })

  test('fills the gap itself if the cursor is too old', async () => {
    const chain = createChain(20)
    const service = createFakeService(chain)
    const { seen, stop } = take(createSubscription(service.transport, { logs: {} }, { fromBlock: 1 }))
    await vi.advanceTimersByTimeAsync(100)
    service.cut()
    chain.mine(400)
    await vi.advanceTimersByTimeAsync(3_000)
    expect(service.open()).toBe(1)
    chain.mine(1)
    service.send()
    await turn()
    expect(logsLeft(seen)).toEqual(chain.logs(1).map(formatLogPosition))
    await stop()
  })

  test('ends the subscription of a slow consumer, and continues from its position', async () => {
    const chain = createChain(5)
    const service = createFakeService(chain)
    const subscription = createSubscription(service.transport, { blocks: true })
    const first = subscription.next()
    await turn()
    chain.mine(1)
    service.send()
    await turn()
    expect(await first).toMatchObject({ done: false })
    chain.mine(5_000)
    service.send()
    expect(service.open()).toBe(0)
    const hashes: string[] = []
    for (let i = 0; i < 5_000; i++) {
      const { value } = await subscription.next()
      if (value?.type === 'block') hashes.push(value.header.hash)
      // The service remembers 128 blocks, so the rest is polled.
      if (i === 4_095) await vi.advanceTimersByTimeAsync(1)
    }
    expect(hashes).toEqual(chain.blocks.slice(7).map(({ hash }) => hash))
    const last = subscription.next()
    await turn()
    expect(service.open()).toBe(1)
    await subscription.return()
    await last
  })

  test('ends with a failure that is not retryable', async () => {
    const service = createFakeService(createChain(5))
    const { over } = take(createSubscription(service.transport, { blocks: true }))
    await turn()
    service.cut('auth')
    await expect(over).rejects.toMatchObject({ kind: 'auth' })
  })

  test('reports the hashes of pending transactions, and reconnects', async () => {
    const service = createFakeService(createChain(5))
    const { stop } = take(createSubscription(service.transport, { pending: true }))
    await turn()
    expect(service.subscribed).toEqual([['newPendingTransactions']])
    service.cut()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(service.subscribed).toHaveLength(2)
    await stop()
    expect(service.open()).toBe(0)
  })
})

describe('a subscription over a socket of another server', () => {
  test('polls at once after each head, and seldom otherwise', async () => {
    const chain = createChain(10)
    const service = createFakeService(chain, 'rejected')
    const { seen, stop } = take(createSubscription(service.transport, { logs: {} }))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(service.subscribed).toEqual([
      ['logs', {}, { cursor: { number: '0xa', hashes: expect.anything() } }],
      ['newHeads'],
    ])
    chain.requests.length = 0
    for (let i = 0; i < 20; i++) {
      chain.mine([1])
      service.send()
      await vi.advanceTimersByTimeAsync(10)
      expect(logsLeft(seen)).toEqual(chain.logs(11).map(formatLogPosition))
      await vi.advanceTimersByTimeAsync(11_000)
    }
    expect(chain.requests).toHaveLength(40)
    // Nothing is sent for a chain that became shorter.
    chain.reorg(2, 0)
    await vi.advanceTimersByTimeAsync(120_000)
    expect(logsLeft(seen)).toEqual(chain.logs(11).map(formatLogPosition))
    await stop()
    expect(service.open()).toBe(0)
  })

  test.each([0, 1])('notices that a server ignores the cursor, by %i heads', async (heads) => {
    const chain = createChain(10)
    const service = createFakeService(chain, 'ignored')
    const { seen, stop } = take(createSubscription(service.transport, { blocks: true }, { fromBlock: 1 }))
    await turn()
    chain.mine(heads)
    service.send()
    await vi.advanceTimersByTimeAsync(heads === 0 ? 5_001 : 1)
    expect(service.subscribed.at(-1)).toEqual(['newHeads'])
    expect(service.open()).toBe(1)
    expect(blocksLeft(seen)).toEqual(hashesFrom(chain, 1))
    await stop()
  })

  test.each([-32_601, -32_006, -32_608, -32_004, -32_600, -31_999])(
    'polls by its schedule if subscriptions are rejected with code %d',
    async (code) => {
      const chain = createChain(10)
      const service = createFakeService(chain)
      service.rejection = code
      const { seen, stop } = take(createSubscription(service.transport, { blocks: true }))
      await vi.advanceTimersByTimeAsync(1_000)
      chain.mine(2)
      await vi.advanceTimersByTimeAsync(12_000)
      expect(blocksLeft(seen)).toEqual(hashesFrom(chain, 11))
      expect(service.subscribed.map(([what]) => what)).toEqual(['newHeads', 'newHeads'])
      await stop()
    },
  )
})
