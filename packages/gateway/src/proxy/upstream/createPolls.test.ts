import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createPolls } from './createPolls.ts'
import type { Polls } from './createPolls.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Starts a poll every `waitMs`. @returns The seconds at which it ran. */
const startPoll = (polls: Polls, waitMs: number): number[] => {
  const startedAt = performance.now()
  const runs: number[] = []
  const task = () => {
    runs.push((performance.now() - startedAt) / 1_000)
    return Promise.resolve()
  }
  void polls.create(task, () => waitMs).run()
  return runs
}
const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1_000)

test('a minute after the last call, polls run once a minute, and the first call makes them run at once', async () => {
  const polls = createPolls()
  const [quick, slow] = [startPoll(polls, 15_000), startPoll(polls, 300_000)]
  await pass(30)
  polls.markUsed()
  await pass(270)
  expect(quick).toEqual([0, 15, 30, 45, 60, 75, 90, 150, 210, 270])
  expect(slow).toEqual([0, 300])
  await pass(5)
  polls.markUsed()
  await pass(40)
  expect(quick.slice(10)).toEqual([305, 320, 335])
  expect(slow.slice(2)).toEqual([305])
})

test('calls to a network in use run no poll', async () => {
  const polls = createPolls()
  const runs = startPoll(polls, 15_000)
  for (let call = 0; call < 20; call += 1) {
    await pass(1)
    polls.markUsed()
  }
  expect(runs).toEqual([0, 15])
})

test('a call during a run starts no second one', async () => {
  const polls = createPolls()
  const ends: (() => void)[] = []
  const poll = polls.create(
    () => new Promise((resolve) => ends.push(resolve)),
    () => 5_000,
  )
  void poll.run()
  await pass(100)
  polls.markUsed()
  poll.reschedule()
  await pass(10)
  expect(ends).toHaveLength(1)
  ends[0]?.()
  await pass(4.9)
  expect(ends).toHaveLength(1)
  await pass(0.2)
  expect(ends).toHaveLength(2)
})

test('a stopped poll does not run, not even after a call', async () => {
  const polls = createPolls()
  let runs = 0
  const poll = polls.create(
    () => Promise.resolve(void (runs += 1)),
    () => 5_000,
  )
  await poll.run()
  poll.stop()
  await pass(100)
  polls.markUsed()
  await pass(100)
  expect(runs).toBe(1)
})
