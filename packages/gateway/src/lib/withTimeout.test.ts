import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTimeBudget, timedOut, withTimeout } from './withTimeout.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const wait = (ms: number): Promise<number> => new Promise((resolve) => setTimeout(() => resolve(ms), ms))

test('resolves or rejects like the work, and leaves no timer behind', async () => {
  await expect(withTimeout(Promise.resolve(1), 1_000)).resolves.toBe(1)
  await expect(withTimeout(Promise.reject(new Error('failed')), 1_000)).rejects.toThrow('failed')
  expect(vi.getTimerCount()).toBe(0)
})

test('resolves with timedOut when the time is up', async () => {
  const results = Promise.all([withTimeout(wait(100), 101), withTimeout(wait(100), 99), withTimeout(wait(100), -1)])
  await vi.advanceTimersByTimeAsync(200)
  expect(await results).toEqual([100, timedOut, timedOut])
})

test('a time budget is shared by all work', async () => {
  const inTime = createTimeBudget(150)
  const results = (async () => [await inTime(wait(100)), await inTime(wait(100)), await inTime(Promise.resolve())])()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await results).toEqual([true, false, true])
})

test('an infinite budget waits without a timer', async () => {
  const result = createTimeBudget(Infinity)(wait(100))
  expect(vi.getTimerCount()).toBe(1)
  await vi.advanceTimersByTimeAsync(100)
  expect(await result).toBe(true)
})
