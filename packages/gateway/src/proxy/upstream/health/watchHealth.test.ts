import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createBackoff } from './createBackoff.ts'
import { createPolls } from './createPolls.ts'
import type { Upstream } from '../createUpstream.ts'
import { watchHealth } from './watchHealth.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('a throttled node that a call could not reach is used as soon as a probe can, and then its probes wait', async () => {
  let probes = 0
  const responses = [
    { status: 200, body: '{"jsonrpc":"2.0","id":1,"result":"0x1"}', retryAfter: undefined },
    { status: 429, body: 'slow down', retryAfter: '3600' },
  ]
  const upstream = {
    backoff: createBackoff(),
    getQueryUnits: () => 1,
    hasRoomForQuery: () => true,
    drawForQuery: () => true,
    post: ({ done }: Parameters<Upstream['post']>[0]) => {
      const { body, ...response } = responses[Math.min(probes, 1)] as (typeof responses)[number]
      probes += 1
      done(undefined, { ...response, body: Buffer.from(body) })
      return () => {}
    },
  } as unknown as Upstream
  const health = watchHealth(upstream, {
    chainId: 1,
    timeoutMs: 1_000,
    polls: createPolls(),
    hasChainId: true,
    onState: () => {},
    onLatency: () => {},
  })
  await health.start()
  await vi.advanceTimersByTimeAsync(5_000)
  expect([probes, health.isUsable()]).toEqual([2, true])
  health.markUnreachable()
  expect(health.isUsable()).toBe(false)
  await vi.advanceTimersByTimeAsync(100)
  expect([probes, health.isUsable()]).toEqual([3, true])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(probes).toBe(3)
  health.stop()
})
