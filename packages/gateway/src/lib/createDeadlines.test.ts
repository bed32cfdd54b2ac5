import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createDeadlines } from './createDeadlines.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('each deadline of any length expires on time, and a cancelled deadline does not expire', () => {
  const deadlines = createDeadlines(1_000)
  const expired: string[] = []
  const start = (name: string, ms: number) =>
    deadlines.start(ms, () => void expired.push(`${name} at ${performance.now() - startedAt}`))
  const startedAt = performance.now()
  start('first', 1_000)
  const canceled = start('canceled', 1_000)
  start('short', 300)
  const canceledToo = start('canceled too', 400)
  vi.advanceTimersByTime(250)
  start('second', 1_000)
  deadlines.cancel(canceled)
  deadlines.cancel(canceledToo)
  vi.advanceTimersByTime(5_000)
  expect(expired).toEqual(['short at 300', 'first at 1000', 'second at 1250'])
  start('after a rest', 1_000)
  vi.advanceTimersByTime(1_000)
  expect(expired.at(-1)).toBe('after a rest at 6250')
  expect(expired).toHaveLength(4)
})

test('a callback may start or cancel another deadline', () => {
  const deadlines = createDeadlines(100)
  const expired: string[] = []
  deadlines.start(100, () => {
    expired.push('first')
    deadlines.cancel(third)
    deadlines.start(100, () => void expired.push('started by the first'))
  })
  deadlines.start(100, () => void expired.push('second'))
  const third = deadlines.start(100, () => void expired.push('third'))
  vi.advanceTimersByTime(100)
  expect(expired).toEqual(['first', 'second'])
  vi.advanceTimersByTime(100)
  expect(expired).toEqual(['first', 'second', 'started by the first'])
})
