import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createPolls } from './createPolls.ts'
import type { Polls } from './createPolls.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
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

/** Starts a poll that other instances may run. @returns The seconds at which it ran, and at which it tried to claim a run. */
const startSharedPoll = async (polls: Polls, claim: () => boolean | Promise<boolean>) => {
  const startedAt = performance.now()
  const getSeconds = () => (performance.now() - startedAt) / 1_000
  const [runs, claims]: [number[], number[]] = [[], []]
  const poll = polls.create(
    () => Promise.resolve(void runs.push(getSeconds())),
    () => 5_000,
    async () => {
      claims.push(getSeconds())
      return claim()
    },
  )
  await poll.run()
  return { poll, runs, claims }
}

test('a poll that another instance has run is due up to a second later than one that ran here', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.8)
  const { poll, runs, claims } = await startSharedPoll(createPolls(), () => true)
  await pass(5)
  poll.postpone()
  await pass(5)
  poll.postpone()
  await pass(5.7)
  expect([runs, claims]).toEqual([[0, 5], [5]])
  await pass(0.1)
  expect([runs, claims]).toEqual([
    [0, 5, 15.8],
    [5, 15.8],
  ])
})

test('a poll that another instance has claimed runs here a second later, unless that postpones it', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0)
  const { poll, runs, claims } = await startSharedPoll(createPolls(), () => false)
  await pass(5.5)
  poll.postpone()
  await pass(5)
  expect([runs, claims]).toEqual([[0], [5, 10.5]])
  await pass(1)
  expect(runs).toEqual([0, 11.5])
})

test('a claim that resolves after another instance has run the poll, or after it was stopped, has no effect', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0)
  const pending: ((isOurs: boolean) => void)[] = []
  const { poll, runs } = await startSharedPoll(createPolls(), () => new Promise((resolve) => pending.push(resolve)))
  for (const isOurs of [true, false]) {
    await pass(5)
    poll.postpone()
    pending.shift()?.(isOurs)
    await pass(4.9)
    poll.postpone()
  }
  await pass(5)
  poll.stop()
  pending.shift()?.(true)
  await pass(10)
  expect(runs).toEqual([0])
})

test('after an idle minute, a call runs no poll that another instance just has run', async () => {
  const polls = createPolls()
  const { poll, runs } = await startSharedPoll(polls, () => true)
  await pass(65)
  const before = runs.length
  await pass(20)
  poll.postpone()
  await pass(4)
  polls.markUsed()
  await pass(4)
  expect(runs.length).toBe(before)
  await pass(1)
  expect(runs.length).toBe(before + 1)
})

test('two hundred instances together run a poll once in each interval', async () => {
  let [runs, claims, claimedUntil] = [0, 0, 0]
  const polls = Array.from({ length: 200 }, () =>
    createPolls().create(
      async () => {
        runs += 1
        await new Promise((resolve) => setTimeout(resolve, 50))
        for (const other of polls) other.postpone()
      },
      () => 5_000,
      async () => {
        claims += 1
        if (performance.now() < claimedUntil) return false
        claimedUntil = performance.now() + 3_000
        return true
      },
    ),
  )
  const started = polls.map((poll) => poll.run())
  await pass(0.05)
  await Promise.all(started)
  runs = 0
  await pass(50)
  // Each interval is 5 seconds, 50 ms for the task, and hardly more until the first of them is due.
  expect(runs).toBe(9)
  // Those that are due while the task runs. They wait for its result.
  expect(claims).toBeLessThan(9 * 50)
  for (const poll of polls) poll.stop()
})
