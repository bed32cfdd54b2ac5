import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { dayMs } from '../../lib/time.ts'
import { createLocalLimits } from './createLocalLimits.ts'
import { createPermits } from './createPermits.ts'
import type { Permits, PermitStore } from './createPermits.ts'
import type { LimitGrant, LimitRequest, UsageLimits } from './usageLimits.ts'

const noon = 20_000 * dayMs + dayMs / 2

/** A store of all processes, which decides when the test lets it. Its clock is that of the test. */
interface TestStore {
  /** Starts a process. */
  readonly open: () => PermitStore
  /** Lets the store decide on all draws. */
  readonly decide: () => Promise<void>
  readonly used: () => Promise<number>
  readonly draws: () => number
  at: number
  isAway: boolean
  /** Whether it decides at once. */
  isSync: boolean
}

const id = 'node:requests:mainnet/a'

const createStore = (perDay: number): TestStore => {
  let at = noon
  const limits = createLocalLimits({ now: () => at })
  const waiting: (() => void)[] = []
  let draws = 0
  const take = (request: LimitRequest): LimitGrant | Promise<LimitGrant> => {
    draws += 1
    if (store.isSync) return limits.take(request)
    return new Promise((resolve, reject) => {
      waiting.push(() => (store.isAway ? reject(new Error('away')) : resolve(limits.take(request))))
    })
  }
  const store: TestStore = {
    open: () =>
      createPermits({
        limits: { take, giveBack: limits.giveBack, close: async () => {} } satisfies Partial<UsageLimits>,
        now: () => at,
        clock: () => at,
      }),
    decide: async () => {
      while (waiting.length > 0) {
        for (const one of waiting.splice(0)) one()
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
    used: async () => (await limits.usage({ id, perDay, perMonth: null })).day.used,
    draws: () => draws,
    get at() {
      return at
    },
    set at(ms) {
      at = ms
    },
    isAway: false,
    isSync: false,
  }
  return store
}

const useOne = (permits: Permits, units = 1): boolean => {
  const has = permits.has(units)
  if (has) permits.use(units)
  return has
}

describe('permits', () => {
  test('are drawn in the background, so a process decides at once', async () => {
    const store = createStore(100_000)
    const permits = store.open().get(id, 100_000)
    expect(permits.has(1)).toBe(false)
    await store.decide()
    expect(useOne(permits)).toBe(true)
    expect(await store.used()).toBe(64)
    expect(permits.left()).toBe(99_999)
  })

  test('more are drawn before they run out, and a call that needs more than a block gets it', async () => {
    const store = createStore(100_000)
    const permits = store.open().get(id, 100_000)
    expect([permits.draw(1_000), store.draws()]).toEqual([expect.any(Promise), 1])
    await store.decide()
    permits.use(990)
    expect(permits.has(10)).toBe(true)
    await store.decide()
    permits.use(10)
    expect(permits.has(10)).toBe(true)
  })

  test('calls that wait get theirs in order, and those that do not fit learn it', async () => {
    const store = createStore(100)
    const permits = store.open().get(id, 100)
    const results: unknown[] = []
    for (const units of [60, 50, 40]) {
      const drawn = permits.draw(units)
      void Promise.resolve(drawn).then((has) => {
        if (has) permits.use(units)
        results.push([units, has])
      })
    }
    await store.decide()
    expect(results).toEqual([
      [60, true],
      [50, false],
      [40, true],
    ])
    expect([await store.used(), permits.left()]).toEqual([100, 0])
  })

  test('a call that waits gets those that the store decides on at once', async () => {
    const store = createStore(100)
    const permits = store.open().get(id, 100)
    const drawn = [10, 20].map(async (units) => permits.draw(units))
    store.isSync = true
    await store.decide()
    expect(await Promise.all(drawn)).toEqual([true, true])
    expect(permits.has(30)).toBe(true)
  })

  test('need no timer before the first limit, and none after the end', async () => {
    const start = vi.spyOn(globalThis, 'setInterval')
    const stop = vi.spyOn(globalThis, 'clearInterval')
    onTestFinished(() => void vi.restoreAllMocks())
    const permits = createPermits()
    expect(start).not.toHaveBeenCalled()
    permits.get(id, 100).has(1)
    await permits.close()
    for (const { value } of start.mock.results) expect(stop).toHaveBeenCalledWith(value)
    expect(start).toHaveBeenCalled()
  })

  test('while the store is away, only what was drawn is used, and it is tried again every half second', async () => {
    const store = createStore(100_000)
    const permits = store.open().get(id, 100_000)
    permits.has(1)
    await store.decide()
    store.isAway = true
    let used = 0
    while (useOne(permits)) used += 1
    await store.decide()
    expect([used, await permits.draw(1), store.draws()]).toEqual([64, false, 2])
    store.at += 500
    store.isAway = false
    const drawn = permits.draw(1)
    await store.decide()
    expect([await drawn, store.draws()]).toEqual([true, 3])
  })

  test('of a day end with it, also those whose draw ends later', async () => {
    const store = createStore(1_000)
    const permits = store.open().get(id, 1_000)
    permits.has(1)
    await store.decide()
    permits.has(500)
    store.at = noon + dayMs / 2
    expect(permits.has(1)).toBe(false)
    await store.decide()
    // The draw in flight was decided after midnight.
    expect([permits.has(499), await store.used(), permits.left()]).toEqual([true, 499, 1_000])
  })

  test('that are not used are returned when the process stops, and another one gets them', async () => {
    const store = createStore(64)
    const first = store.open()
    const permits = first.get(id, 64)
    void permits.draw(64)
    await store.decide()
    permits.use(4)
    const other = store.open().get(id, 64)
    other.has(1)
    await store.decide()
    expect(useOne(other)).toBe(false)
    await first.close()
    expect([permits.has(1), await store.used()]).toEqual([false, 4])
    store.at += 500
    void other.draw(60)
    await store.decide()
    expect(useOne(other, 60)).toBe(true)
  })

  test('a limit that is changed applies to all at once, and returns what is held', async () => {
    const store = createStore(100_000)
    const all = store.open()
    const before = all.get(id, 100_000)
    before.has(1)
    await store.decide()
    useOne(before)
    const after = all.get(id, 2)
    expect(await store.used()).toBe(1)
    // One draw with the old limit is in flight.
    await store.decide()
    expect([before.has(1), await store.used()]).toEqual([false, 1])
    await store.decide()
    expect([useOne(before), useOne(after), after.left()]).toEqual([true, false, 0])
  })

  test('blocks become smaller near the limit, so that a kill forfeits less and less', async () => {
    const store = createStore(100_000)
    const permits = store.open().get(id, 100_000)
    let before = 0
    for (let used = 0; used < 99_900;) {
      const drawn = permits.draw(1)
      await store.decide()
      expect(await drawn).toBe(true)
      while (used < 99_900 && permits.has(1)) {
        permits.use(1)
        used += 1
      }
      before = used
    }
    await store.decide()
    expect((await store.used()) - before).toBeLessThanOrEqual(2)
  })

  test('are never more than the limit over all processes, and a kill forfeits at most a block', async () => {
    const step = fc.record({ process: fc.nat(2), units: fc.integer({ min: 1, max: 80 }), ms: fc.nat(3_000) })
    const kill = fc.record({ process: fc.nat(2), how: fc.constantFrom('kill', 'stop', 'reload') })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof({ weight: 30, arbitrary: step }, kill), { maxLength: 300 }), async (steps) => {
        const perDay = 40_000
        const store = createStore(perDay)
        const processes = [0, 1, 2].map(() => store.open())
        let used = 0
        let kills = 0
        const use = async (process: number, units: number): Promise<boolean> => {
          const permits = processes[process]?.get(id, perDay)
          const drawn = permits?.draw(units)
          await store.decide()
          const has = (await drawn) === true && permits !== undefined && useOne(permits, units)
          if (has) used += units
          return has
        }
        for (const one of steps) {
          if ('units' in one) {
            store.at = Math.min(store.at + one.ms, noon + dayMs / 4)
            await use(one.process, one.units)
          } else {
            if (one.how === 'kill') kills += 1
            if (one.how === 'stop') await processes[one.process]?.close()
            if (one.how !== 'reload') processes[one.process] = store.open()
          }
        }
        // The rest of a day of load.
        for (let failed = 0, process = 0; failed < 6; process = (process + 1) % 3) {
          store.at += 500
          failed = (await use(process, failed === 0 ? 80 : 1)) ? 0 : failed + 1
        }
        expect(used).toBeLessThanOrEqual(perDay)
        // A block, and one more that is drawn when the first is half used.
        expect(used).toBeGreaterThanOrEqual(perDay - kills * 2 * (perDay / 1_000) - 10)
      }),
      { numRuns: 30 },
    )
  })
})
