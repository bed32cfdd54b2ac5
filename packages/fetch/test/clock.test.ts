import type { CallOptions, EthereumRpc } from '@keyrail/core'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { waitForTransactionReceipt } from '../src/index.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const hash = `0x${'ab'.repeat(32)}` as const

/** A client of a node that never has the receipt. */
const pending = (): {
  calls: number
  with: (options: CallOptions) => Pick<EthereumRpc, 'eth_blockNumber'> & Pick<EthereumRpc, 'eth_getTransactionReceipt'>
} => {
  const client = {
    calls: 0,
    with: () => ({
      eth_blockNumber: async () => '0x1' as const,
      eth_getTransactionReceipt: async () => {
        client.calls++
        return null
      },
    }),
  }
  return client
}

describe('waitForTransactionReceipt', () => {
  test.each([
    ['is stuck', () => 5],
    ['goes a day back at each reading', (read: number) => -86_400_000 * read],
    ['starts at 0', () => 0],
    ['is no number', () => NaN],
  ])('ends at its deadline by the timers, if performance.now() %s', async (_, source) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let read = 0
    vi.spyOn(performance, 'now').mockImplementation(() => source(read++))
    const client = pending()
    const end = waitForTransactionReceipt(client, { hash, timeoutMs: 5_000 }).catch(
      (error: { kind: string }) => error.kind,
    )
    await vi.advanceTimersByTimeAsync(4_900)
    expect(client.calls).toBeGreaterThan(3)
    await vi.advanceTimersByTimeAsync(200)
    expect(await end).toBe('timeout')
  })
})
