import { beforeEach, expect, test, vi } from 'vitest'
import { createDegradedMode } from './createDegradedMode.ts'
import type { LimitsEvent } from './usageLimits.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  return () => {
    vi.useRealTimers()
  }
})

test('reports once that it started, and what was granted when it ends', () => {
  const events: LimitsEvent[] = []
  const mode = createDegradedMode((event) => events.push(event))
  expect(mode.isOn()).toBe(false)
  mode.enter()
  vi.advanceTimersByTime(1_000)
  mode.enter()
  expect(mode.isOn()).toBe(true)
  expect(events).toEqual([{ event: 'quotaDegraded', state: 'started' }])
  mode.recordGrant('user:1', 2)
  mode.recordGrant('user:1', 3)
  mode.recordGrant('user:2', 1)
  mode.recordGrant('user:3', 0)
  vi.advanceTimersByTime(500.4)
  mode.leave()
  mode.leave()
  expect(mode.isOn()).toBe(false)
  expect(events.slice(1)).toEqual([{ event: 'quotaDegraded', state: 'ended', quotas: 2, units: 6, durationMs: 1_500 }])
  mode.enter()
  mode.leave()
  expect(events.at(-1)).toEqual({ event: 'quotaDegraded', state: 'ended', quotas: 0, units: 0, durationMs: 0 })
})

test('does not end before it has started', () => {
  const events: LimitsEvent[] = []
  createDegradedMode((event) => events.push(event)).leave()
  expect(events).toEqual([])
})

test('passes events on, and a listener that throws stops nothing', () => {
  const seen: LimitsEvent[] = []
  const mode = createDegradedMode((event) => {
    seen.push(event)
    throw new Error('a bug of the listener')
  })
  mode.report({ event: 'quotaLost', units: 3 })
  mode.enter()
  expect(seen).toEqual([
    { event: 'quotaLost', units: 3 },
    { event: 'quotaDegraded', state: 'started' },
  ])
  expect(mode.isOn()).toBe(true)
})

test('works without a listener', () => {
  const mode = createDegradedMode(undefined)
  mode.enter()
  mode.report({ event: 'quotaLost', units: 3 })
  mode.leave()
  expect(mode.isOn()).toBe(false)
})
