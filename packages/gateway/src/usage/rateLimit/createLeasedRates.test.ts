import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { createLeasedRates } from './createLeasedRates.ts'
import type { LeasedRates } from './createLeasedRates.ts'
import { createRateLeases } from './createRateLeases.ts'
import type { RateDecision, RateLimits } from './rateDecision.ts'

const open: { close: () => void }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

/** Workers and their primary, with messages that take `delayMs`. Time passes only in `pass`. */
const startWorkers = (count: number, { delayMs = 1 } = {}) => {
  let time = 1_000
  let messages = 0
  const due: { at: number; work: () => void }[] = []
  const later = (ms: number, work: () => void): void => void due.push({ at: time + ms, work })
  const leases = createRateLeases({ now: () => time })
  const killed = new Set<number>()
  const workers: LeasedRates[] = Array.from({ length: count }, (_, worker) =>
    createLeasedRates({
      workers: count,
      now: () => time,
      schedule: (work) => later(0, work),
      repeat: (work, everyMs) => {
        let stopped = false
        const run = (): void => {
          if (stopped) return
          work()
          later(everyMs, run)
        }
        later(everyMs, run)
        return () => (stopped = true)
      },
      send: (requests) => {
        messages += 1
        later(delayMs, () => {
          if (killed.has(worker)) return
          const replies = leases.handle(worker, requests)
          if (replies.length > 0) later(delayMs, () => workers[worker]?.handle(replies))
        })
      },
    }),
  )
  open.push(...workers)
  return {
    leases,
    workers,
    killed,
    /** Ends the leases of a worker, whose messages in flight are lost. */
    kill: (worker: number): void => {
      killed.add(worker)
      leases.end(worker)
    },
    getTime: () => time,
    getMessages: () => messages,
    /** Delivers messages, and lets promises resolve in between. */
    pass: async (ms: number): Promise<void> => {
      const end = time + ms
      for (;;) {
        const next = due.filter(({ at }) => at <= end).toSorted((one, other) => one.at - other.at)[0]
        if (next === undefined) break
        due.splice(due.indexOf(next), 1)
        time = Math.max(time, next.at)
        next.work()
        for (let turn = 0; turn < 4; turn += 1) await Promise.resolve()
      }
      time = end
    },
  }
}

interface Granted {
  readonly sentAt: number
  readonly decidedAt: number
  readonly tokens: number
}

/** Whether every period has at most burst plus rate of the calls that were certainly decided within it. */
const findExcess = (granted: readonly Granted[], { perSecond, burst }: RateLimits): number => {
  let most = -Infinity
  for (const { sentAt } of granted)
    for (const { decidedAt } of granted) {
      if (decidedAt < sentAt) continue
      const within = granted.filter((one) => one.sentAt >= sentAt && one.decidedAt <= decidedAt)
      const tokens = within.reduce((sum, one) => sum + one.tokens, 0)
      most = Math.max(most, tokens - burst - ((decidedAt - sentAt + 1) * perSecond) / 1_000)
    }
  return most
}

describe('createLeasedRates', () => {
  test('all workers together never grant more than burst plus rate in any period', async () => {
    const step = fc.record({
      afterMs: fc.oneof(fc.nat(15), fc.nat(400)),
      worker: fc.nat(3),
      weights: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 5 }),
      kill: fc.integer({ min: 0, max: 30 }),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.record({ perSecond: fc.integer({ min: 1, max: 200 }), burst: fc.integer({ min: 1, max: 120 }) }),
        fc.integer({ min: 0, max: 20 }),
        fc.array(step, { minLength: 10, maxLength: 60 }),
        async (limits, delayMs, steps) => {
          const { workers, killed, kill: killWorker, pass, getTime } = startWorkers(4, { delayMs })
          const granted: Granted[] = []
          for (const { afterMs, worker, weights, kill } of steps) {
            await pass(afterMs)
            if (killed.has(worker)) continue
            const sentAt = getTime()
            const add = (decision: RateDecision): void => {
              const tokens = weights.slice(0, decision.granted).reduce((sum, weight) => sum + weight, 0)
              if (tokens > 0) granted.push({ sentAt, decidedAt: getTime(), tokens })
            }
            const decision = workers[worker]?.take('key_1', limits, weights.length, weights)
            if (decision instanceof Promise) void decision.then(add, () => {})
            else if (decision !== undefined) add(decision)
            if (kill === 0 && worker !== 0) killWorker(worker)
          }
          await pass(100)
          for (const worker of workers) worker.close()
          expect(findExcess(granted, limits)).toBeLessThanOrEqual(0)
        },
      ),
      { numRuns: fuzzCases(150) },
    )
  })

  test.each([
    { perSecond: 10, burst: 1, calls: 200 },
    { perSecond: 50, burst: 50, calls: 200 },
    { perSecond: 1_000, burst: 100, calls: 2_000 },
    { perSecond: 1_000, burst: 10, calls: 2_000 },
    { perSecond: 500, burst: 5_000, calls: 2_000 },
  ])(
    'grant at least 95 % of $perSecond/s with a burst of $burst to $calls calls/s on random workers',
    async ({ perSecond, burst, calls }) => {
      const { workers, pass } = startWorkers(4)
      const seconds = 20
      let granted = 0
      // A fixed sequence of workers that is not a cycle.
      let seed = 1
      const pick = (): number => (seed = (seed * 48_271) % 2_147_483_647) % 4
      const count = (decision: RateDecision): void => void (granted += decision.granted)
      for (let call = 0; call < seconds * calls; call += 1) {
        const decision = workers[pick()]?.take('key_1', { perSecond, burst }, 1)
        if (decision instanceof Promise) void decision.then(count, () => {})
        else if (decision !== undefined) count(decision)
        await pass(1_000 / calls)
      }
      await pass(10)
      const most = burst + perSecond * seconds
      expect(granted).toBeLessThanOrEqual(most + 1)
      expect(granted).toBeGreaterThanOrEqual(0.95 * most)
    },
  )

  test('a busy key whose bucket refills within a second needs no message for most calls, and none is rejected below its rate', async () => {
    const { workers, pass, getMessages } = startWorkers(4)
    const limits = { perSecond: 1_000, burst: 100 }
    let granted = 0
    for (let call = 0; call < 4_000; call += 1) {
      const decision = workers[call % 4]?.take('key_1', limits, 1)
      if (decision instanceof Promise) void decision.then((later) => (granted += later.granted))
      else granted += decision?.granted ?? 0
      await pass(1.25)
    }
    await pass(10)
    expect(granted).toBe(4_000)
    expect(getMessages()).toBeLessThan(4_000 / 4)
  })

  test('a key whose bucket refills within a second keeps its whole burst for one worker while it is not busy', async () => {
    const { workers, pass } = startWorkers(4)
    const limits = { perSecond: 100, burst: 50 }
    for (let call = 0; call < 40; call += 1) {
      const decision = workers[call % 4]?.take('key_1', limits, 1)
      await pass(300)
      expect((await decision)?.granted).toBe(1)
    }
    const burst = workers[0]?.take('key_1', limits, 50)
    await pass(10)
    expect((await burst)?.granted).toBe(50)
  })

  test('a busy key needs few messages, below its rate and above it', async () => {
    const { workers, pass, getMessages } = startWorkers(4)
    const limits = { perSecond: 1_000, burst: 10_000 }
    let call = 0
    const send = async (count: number, everyMs: number): Promise<number> => {
      let granted = 0
      for (let sent = 0; sent < count; sent += 1) {
        const decision = workers[(call += 1) % 4]?.take('key_1', limits, 1)
        if (decision instanceof Promise)
          void decision.then(
            (later) => (granted += later.granted),
            () => {},
          )
        else granted += decision?.granted ?? 0
        await pass(everyMs)
      }
      return granted
    }
    expect(await send(5_000, 1.25)).toBeGreaterThan(4_990)
    // Each worker reports four times a second.
    expect(getMessages()).toBeLessThan(200)
    await send(20_000, 0.1)
    const before = getMessages()
    // Four times the rate: at most one message each 10 ms and worker.
    await send(8_000, 0.25)
    expect(getMessages() - before).toBeLessThan((4 * 2_000) / 10 + 10)
  })

  test('the tokens of a worker that exits count as used, and are refilled', async () => {
    const { workers, kill, pass } = startWorkers(2)
    const [one, other] = workers
    const limits = { perSecond: 10, burst: 40 }
    const first = one?.take('key_1', limits, 30)
    await pass(5)
    expect(await first).toMatchObject({ granted: 30 })
    kill(0)
    const second = other?.take('key_1', limits, 40)
    await pass(5)
    const { granted = 0 } = (await second) ?? {}
    expect(granted).toBeLessThanOrEqual(10)
    await pass(4_000)
    const third = other?.take('key_1', limits, 40)
    await pass(5)
    expect(await third).toMatchObject({ granted: 40 })
  })

  test('tokens that a worker does not use can be used by the others: most after a second, the last 32nd of the burst after 10', async () => {
    const { workers, pass } = startWorkers(2)
    const [one, other] = workers
    const limits = { perSecond: 1, burst: 320 }
    const takeAll = async (worker: LeasedRates | undefined): Promise<number> => {
      const decision = worker?.take('key_1', limits, 320)
      await pass(5)
      return (await decision)?.granted ?? 0
    }
    const first = one?.take('key_1', limits, 1)
    await pass(5)
    await first
    expect(await takeAll(other)).toBe(319 - 8)
    // The bucket refills, and `other` returns all of it.
    await pass(1_000_000)
    const second = one?.take('key_1', limits, 1)
    await pass(1_300)
    await second
    expect(await takeAll(other)).toBe(320 - 5)
    await pass(1_000_000)
    const third = one?.take('key_1', limits, 1)
    await pass(10_300)
    await third
    expect(await takeAll(other)).toBe(320)
  })

  test('many keys with few calls need a message for few of them', async () => {
    const { workers, pass, getMessages } = startWorkers(4)
    const limits = { perSecond: 100, burst: 1_024 }
    let waited = 0
    // Each key has a call a second, each time on another worker.
    for (let call = 0; call < 12_000; call += 1) {
      const key = call % 400
      const decision = workers[(key + Math.floor(call / 400)) % 4]?.take(`key_${key}`, limits, 1)
      if (decision instanceof Promise) waited += 1
      await pass(2.5)
    }
    // The first call of a key on each worker.
    expect(waited).toBe(1_600)
    // And a report every 250 ms.
    expect(getMessages()).toBeLessThan(1_600 + 4 * 4 * 30 + 10)
  })

  test('a worker that closes returns its tokens at once, and a bucket that is full is forgotten', async () => {
    const { workers, leases, pass } = startWorkers(2)
    const [one, other] = workers
    const limits = { perSecond: 1, burst: 1_000 }
    const first = one?.take('key_1', limits, 1)
    await pass(5)
    await first
    one?.close()
    await pass(5)
    const second = other?.take('key_1', limits, 999)
    await pass(5)
    expect(await second).toMatchObject({ granted: 999, remaining: 0 })
    other?.close()
    await pass(1_000_000)
    leases.sweep()
    expect(leases.size).toBe(0)
  })

  test('cheap calls are granted while an expensive one does not fit', async () => {
    const { workers, pass } = startWorkers(2)
    const limits = { perSecond: 10, burst: 100 }
    const used = workers[0]?.take('key_1', limits, 1, [60])
    await pass(5)
    await used
    const expensive = workers[1]?.take('key_1', limits, 1, [75])
    const cheap = workers[1]?.take('key_1', limits, 1)
    await pass(10)
    expect([(await expensive)?.granted, (await cheap)?.granted]).toEqual([0, 1])
  })

  test('a lowered limit applies to the next call, also to leased tokens', async () => {
    const { workers, pass } = startWorkers(1)
    const first = workers[0]?.take('key_1', { perSecond: 100, burst: 1_000 }, 500)
    await pass(5)
    await first
    const second = workers[0]?.take('key_1', { perSecond: 1, burst: 10 }, 1)
    await pass(5)
    expect(await second).toMatchObject({ granted: 0, perSecond: 1 })
    expect(workers[0]?.peek('key_1', { perSecond: 1, burst: 10 })).toMatchObject({ granted: 0 })
  })

  test('a lowered limit applies to tokens whose request was in flight, and they are returned', async () => {
    const { workers, pass } = startWorkers(2, { delayMs: 5 })
    const [one, other] = workers
    const before = { perSecond: 100, burst: 1_000 }
    const after = { perSecond: 1, burst: 10 }
    const first = one?.take('key_1', before, 500)
    await pass(1)
    const second = one?.take('key_1', after, 500)
    await pass(100)
    // 500 tokens were granted to neither, but not more than the new burst.
    expect([(await first)?.granted, (await second)?.granted]).toEqual([10, 0])
    expect(one?.peek('key_1', after)).toMatchObject({ granted: 0 })
    await pass(10_000)
    const third = other?.take('key_1', after, 10)
    await pass(100)
    expect(await third).toMatchObject({ granted: 10 })
  })

  test('calls that the primary does not decide in time are rejected as unavailable', async () => {
    const rates = createLeasedRates({ workers: 1, send: () => {}, patienceMs: 50 })
    open.push(rates)
    await expect(rates.take('key_1', { perSecond: 1, burst: 1 }, 1)).rejects.toMatchObject({ fault: 'unavailable' })
  })
})
