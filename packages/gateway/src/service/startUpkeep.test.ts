import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startUpkeep } from './startUpkeep.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('runs immediately and then every everyMs, one run at a time, also after a failure, until it is stopped', async () => {
  const runs: { resolve: () => void; reject: (error: Error) => void }[] = []
  const stopped: (() => boolean)[] = []
  const stop = startUpkeep({
    everyMs: 1_000,
    work: (isStopped) => {
      stopped.push(isStopped)
      return new Promise((resolve, reject) => runs.push({ resolve, reject }))
    },
  })
  expect(runs).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(runs).toHaveLength(1)
  runs[0]?.resolve()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(runs).toHaveLength(2)
  runs[1]?.reject(new Error('unavailable'))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(runs).toHaveLength(3)
  expect(stopped[2]?.()).toBe(false)
  stop()
  expect(stopped[2]?.()).toBe(true)
  runs[2]?.resolve()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(runs).toHaveLength(3)
})
