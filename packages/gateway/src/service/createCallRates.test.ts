import { expect, test } from 'vitest'
import { createCallRates } from './createCallRates.ts'

const start = Date.UTC(2026, 10, 21, 12)
const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)

test('counts calls and failures by second and by minute, from the start on', () => {
  let now = start
  const { count, read } = createCallRates(() => now)
  count('eth_call', 'succeeded', 3)
  now += 2_000
  count('eth_call', 'rate_limited', 2)
  count('eth_call', 'reverted')
  now += 60_000
  count('eth_call', 'upstreamFailed')
  const { perSecond, perMinute, failures } = read()
  expect(perMinute).toEqual({ from: start, totals: [6, 1], failures: [2, 1] })
  expect(perSecond.from).toBe(start)
  expect(perSecond.totals).toHaveLength(63)
  expect([0, 1, 2, 62].map((second) => [perSecond.totals[second], perSecond.failures[second]])).toEqual([
    [3, 0],
    [0, 0],
    [3, 2],
    [1, 1],
  ])
  expect(failures).toEqual([
    { outcome: 'rate_limited', total: 2 },
    { outcome: 'upstreamFailed', total: 1 },
  ])
})

test('opened WebSockets and notifications are no calls, but a rejected call of such a method is', () => {
  const { count, read } = createCallRates(() => start)
  count('websocket', 'succeeded')
  count('eth_subscription', 'succeeded', 50)
  count('eth_subscription', 'rate_limited')
  expect(read().perMinute).toEqual({ from: start, totals: [1], failures: [1] })
})

test('forgets what is older than 2 minutes and 2 hours, also after a pause', () => {
  let now = start
  const { count, read } = createCallRates(() => now)
  count('eth_call', 'quota_exceeded', 7)
  now += 120_000
  count('eth_call', 'succeeded')
  expect(read().perSecond).toMatchObject({ from: start + 1_000, totals: { length: 120 } })
  expect(sum(read().perSecond.totals)).toBe(1)
  expect(sum(read().perMinute.totals)).toBe(8)
  now = start + 120 * 60_000
  expect(read().failures).toEqual([])
  // The same places of the rows, one round later, without a call in between.
  now = start + 240 * 60_000 + 120_000
  const { perSecond, perMinute } = read()
  expect([perSecond.totals, perMinute.totals].map((totals) => [totals.length, sum(totals)])).toEqual([
    [120, 0],
    [120, 0],
  ])
})

test('counts on while the clock is set back', () => {
  let now = start
  const { count, read } = createCallRates(() => now)
  count('eth_call', 'succeeded')
  now -= 3_000
  count('eth_call', 'nodeError', 2)
  expect(read().perSecond).toEqual({ from: start - 3_000, totals: [2], failures: [2] })
  now = start
  expect(read().perSecond).toEqual({ from: start - 3_000, totals: [2, 0, 0, 1], failures: [2, 0, 0, 0] })
})

test('counts the calls of the last minutes that failed because of nodes, not of callers', () => {
  let now = start
  const { count, readRecent } = createCallRates(() => now)
  count('eth_call', 'upstreamFailed', 9)
  now += 60_000
  count('eth_call', 'succeeded', 4)
  count('eth_call', 'rate_limited', 3)
  count('eth_call', 'upstreamFailed', 2)
  now += 4 * 60_000
  count('eth_call', 'upstreamFailed')
  expect(readRecent(5)).toEqual({ total: 10, failed: 3 })
  expect(readRecent(6)).toEqual({ total: 19, failed: 12 })
})
