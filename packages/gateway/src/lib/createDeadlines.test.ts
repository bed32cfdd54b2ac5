import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createDeadlines } from './createDeadlines.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('each ends at its own time, of the usual length or not, and who ended before is not told', () => {
  const deadlines = createDeadlines(1_000)
  const told: string[] = []
  const begin = (name: string, ms: number) =>
    deadlines.begin(ms, () => void told.push(`${name} at ${performance.now() - startedAt}`))
  const startedAt = performance.now()
  begin('first', 1_000)
  const answered = begin('answered', 1_000)
  begin('short', 300)
  const answeredToo = begin('answered too', 400)
  vi.advanceTimersByTime(250)
  begin('second', 1_000)
  deadlines.end(answered)
  deadlines.end(answeredToo)
  vi.advanceTimersByTime(5_000)
  expect(told).toEqual(['short at 300', 'first at 1000', 'second at 1250'])
  begin('after a rest', 1_000)
  vi.advanceTimersByTime(1_000)
  expect(told.at(-1)).toBe('after a rest at 6250')
  expect(told).toHaveLength(4)
})

test('one that begins another as it ends, or ends another, upsets none', () => {
  const deadlines = createDeadlines(100)
  const told: string[] = []
  deadlines.begin(100, () => {
    told.push('first')
    deadlines.end(third)
    deadlines.begin(100, () => void told.push('begun by the first'))
  })
  deadlines.begin(100, () => void told.push('second'))
  const third = deadlines.begin(100, () => void told.push('third'))
  vi.advanceTimersByTime(100)
  expect(told).toEqual(['first', 'second'])
  vi.advanceTimersByTime(100)
  expect(told).toEqual(['first', 'second', 'begun by the first'])
})
