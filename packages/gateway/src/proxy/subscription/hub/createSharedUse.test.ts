import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createSharedUse } from './createSharedUse.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const open = (graceMs: number) => {
  const events: string[] = []
  const use = createSharedUse(() => {
    events.push('start')
    return () => events.push('stop')
  }, graceMs)
  return { use, events }
}

test('it runs from the first holder to the last one', () => {
  const { use, events } = open(0)
  use.hold()
  use.hold()
  use.release()
  expect(events).toEqual(['start'])
  use.release()
  expect(events).toEqual(['start', 'stop'])
  use.hold()
  expect(events).toEqual(['start', 'stop', 'start'])
})

test('it continues for the grace period, and longer if there is a new holder', () => {
  const { use, events } = open(60_000)
  use.hold()
  use.release()
  vi.advanceTimersByTime(59_999)
  use.hold()
  vi.advanceTimersByTime(60_000)
  expect(events).toEqual(['start'])
  use.release()
  vi.advanceTimersByTime(59_999)
  expect(events).toEqual(['start'])
  vi.advanceTimersByTime(1)
  expect(events).toEqual(['start', 'stop'])
})

test('it stops at once when it is closed, and only once', () => {
  const { use, events } = open(60_000)
  use.hold()
  use.release()
  use.close()
  vi.advanceTimersByTime(60_000)
  expect(events).toEqual(['start', 'stop'])
})
