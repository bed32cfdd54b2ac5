import { expect, onTestFinished, test, vi } from 'vitest'
import { createTaskQueue } from './createTaskQueue.ts'

test('after a slice, others have the event loop for 2 ms', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const queue = createTaskQueue({ ms: Infinity, writes: 2 })
  let steps = 0
  queue.push(function* () {
    for (; steps < 5; steps += 1) yield 1
  })
  const seen = [steps]
  for (let ms = 0; ms < 5; ms += 1) {
    vi.advanceTimersByTime(1)
    seen.push(steps)
  }
  // A step is counted when the next one starts.
  expect(seen).toEqual([1, 1, 3, 3, 5, 5])
})
