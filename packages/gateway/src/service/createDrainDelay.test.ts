import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createDrainDelay } from './createDrainDelay.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const isOver = async (wait: Promise<void>): Promise<boolean> => {
  let over = false
  void wait.then(() => (over = true))
  await vi.advanceTimersByTimeAsync(0)
  return over
}

// 15.29
test('waits for the given time', async () => {
  const delay = createDrainDelay()
  const wait = delay.wait(5_000)
  await vi.advanceTimersByTimeAsync(4_999)
  expect(await isOver(wait)).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(await isOver(wait)).toBe(true)
  expect(delay.skip()).toBe(false)
})

test('can be skipped once, and only while it waits', async () => {
  const delay = createDrainDelay()
  expect(delay.skip()).toBe(false)
  const wait = delay.wait(5_000)
  expect(delay.skip()).toBe(true)
  expect(await isOver(wait)).toBe(true)
  expect(delay.skip()).toBe(false)
  expect(vi.getTimerCount()).toBe(0)
})
