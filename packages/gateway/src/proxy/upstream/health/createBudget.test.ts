import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPermits } from '../../../usage/limits/createPermits.ts'
import { createBudget, createSecondUsage } from './createBudget.ts'
import type { Budget, BudgetLimits } from './createBudget.ts'

const dayMs = 86_400_000
/** Noon. */
const noon = 20_000 * dayMs + dayMs / 2

const start = (limits: BudgetLimits): { budget: Budget; pass: (ms: number) => void } => {
  let at = noon
  return { budget: createBudget(limits, { now: () => at }), pass: (ms) => (at += ms) }
}

describe('a budget', () => {
  test('without limits always has room, and no states', () => {
    const { budget } = start({})
    budget.charge(1e9, 1e9)
    expect(budget.hasRoom(1e9, 1e9)).toBe(true)
    expect(budget.hasRoomToday(1)).toBe(true)
    expect(budget.states()).toEqual([])
  })

  test.each<[name: keyof BudgetLimits, requests: number, units: number, lengthMs: number]>([
    ['maxRequestsPerSecond', 10, 1, 1_000],
    ['maxRequestsPerDay', 10, 1, dayMs],
    ['maxUnitsPerSecond', 1, 10, 1_000],
    ['maxUnitsPerDay', 1, 10, dayMs],
  ])('%s: has room for what is left, and again in the next period', (name, requests, units, lengthMs) => {
    const { budget, pass } = start({ [name]: 25 })
    budget.charge(requests, units)
    budget.charge(requests, units)
    expect(budget.hasRoom(requests, units)).toBe(false)
    expect(budget.hasRoom(requests / 2, units / 2)).toBe(true)
    expect(budget.states()).toEqual([{ name, limit: 25, left: 5 }])
    pass(lengthMs)
    expect(budget.hasRoom(requests, units)).toBe(true)
    expect(budget.states()).toEqual([{ name, limit: 25, left: 25 }])
  })

  test('of a day ends at midnight UTC', () => {
    const { budget, pass } = start({ maxRequestsPerDay: 1 })
    budget.charge(1, 1)
    pass(dayMs / 2 - 1)
    expect(budget.hasRoom(1, 1)).toBe(false)
    pass(1)
    expect(budget.hasRoom(1, 1)).toBe(true)
  })

  test('is not reset by a clock that goes back', () => {
    const { budget, pass } = start({ maxRequestsPerDay: 1 })
    budget.charge(1, 1)
    pass(-2 * dayMs)
    expect(budget.hasRoom(1, 1)).toBe(false)
  })

  test('counts calls with the weights of its upstream, else with those of the gateway', () => {
    const weights = { eth_call: 26, eth_chainId: 0, '*': 20 }
    const calls = [{ method: 'eth_call' }, { method: 'eth_getCode' }, { method: 'eth_chainId' }]
    expect(createBudget({ weights }).getUnits(calls, 3)).toBe(46)
    expect(createBudget({ weights: { eth_call: 26 } }).getUnits(calls, 3)).toBe(28)
    expect(createBudget({}).getUnits(calls, 3)).toBe(3)
  })

  test.each<[price: number, options: Parameters<typeof createBudget>[0]]>([
    [0, {}],
    [0, { maxRequestsPerSecond: 5 }],
    [1, { weights: { eth_call: 26 } }],
    [1, { maxRequestsPerDay: 5 }],
    [0, { maxRequestsPerDay: 5, unitPrice: 0 }],
    [0.4, { unitPrice: 0.4 }],
  ])('has the unit price %d with %j', (price, options) => {
    expect(createBudget(options).unitPrice).toBe(price)
  })

  test('has no room for an own query of more units than the day has left', () => {
    const { budget } = start({ maxUnitsPerDay: 30 })
    budget.charge(1, 20)
    expect([budget.hasRoomToday(10), budget.hasRoomToday(11)]).toEqual([true, false])
  })

  test('has room for own queries while only its second is used up', () => {
    const { budget } = start({ maxRequestsPerSecond: 1, maxRequestsPerDay: 2 })
    budget.charge(1, 1)
    expect([budget.hasRoom(1, 1), budget.hasRoomToday(1)]).toEqual([false, true])
    budget.charge(1, 1)
    expect(budget.hasRoomToday(1)).toBe(false)
  })

  test('starts with the usage so far, so that a reload resets nothing', () => {
    const now = (): number => noon
    const shared = { id: 'mainnet/a', permits: createPermits({ now }), second: createSecondUsage(), now }
    const before = createBudget({ maxRequestsPerDay: 5, maxRequestsPerSecond: 5 }, shared)
    expect(before.hasRoom(4, 4)).toBe(true)
    before.charge(4, 4)
    const states = createBudget({ maxRequestsPerDay: 10, maxRequestsPerSecond: 10 }, shared).states()
    expect(states.map(({ left }) => left)).toEqual([6, 6])
  })

  test('of a second is divided among the instances, and what is left over goes to each in turn', () => {
    let at = noon
    const places = [0, 1, 2].map((place) =>
      createBudget({ maxRequestsPerSecond: 10 }, { now: () => at, getInstances: () => ({ instances: 3, place }) }),
    )
    const seconds = [0, 1, 2].map(() => {
      at += 1_000
      return places.map((budget) => {
        let requests = 0
        for (; budget.hasRoom(1, 1); requests += 1) budget.charge(1, 1)
        return requests
      })
    })
    expect(seconds.map((each) => each.toSorted((one, other) => one - other))).toEqual([3, 3, 3].map(() => [3, 3, 4]))
    expect(places.map((_, place) => seconds.reduce((sum, each) => sum + (each[place] ?? 0), 0))).toEqual([10, 10, 10])
  })

  test('that is idle is neither used up nor asks the store, if only its state is read', () => {
    let draws = 0
    const take = async (): Promise<never> => {
      draws += 1
      throw new Error('away')
    }
    const limits = { take, giveBack: () => 0, close: async () => {} }
    const budget = createBudget({ maxRequestsPerDay: 1_000 }, { permits: createPermits({ limits }) })
    expect([budget.isUsedUp(), budget.isSecondUsedUp(), draws]).toEqual([false, false, 0])
  })

  test('of a second has room for the heaviest call at each instance in turn, and the others share the rest', () => {
    let at = noon
    const weights = { eth_call: 1, eth_getLogs: 70, trace_block: 500 }
    const places = [0, 1, 2].map((place) => {
      const share = { now: () => at, getInstances: () => ({ instances: 3, place }) }
      return place === 0
        ? createBudget({ maxUnitsPerSecond: 101 }, { ...share, getWeights: () => weights })
        : createBudget({ maxUnitsPerSecond: 101, weights }, share)
    })
    const turns = [0, 1, 2].map(() => {
      at += 1_000
      const heavy = places.map((budget) => budget.hasRoom(1, 70))
      let units = 0
      for (const [place, budget] of places.entries()) {
        if (heavy[place] === true) budget.charge(1, 70)
        for (; budget.hasRoom(1, 1); units += 1) budget.charge(1, 1)
      }
      return { place: heavy.indexOf(true), heavy: heavy.filter(Boolean).length, units }
    })
    expect(new Set(turns.map(({ place }) => place))).toEqual(new Set([0, 1, 2]))
    for (const turn of turns) expect(turn).toMatchObject({ heavy: 1, units: 31 })
  })

  test('is never exceeded', () => {
    const step = fc.record({
      ms: fc.nat(2_000),
      requests: fc.integer({ min: 1, max: 5 }),
      weight: fc.integer({ min: 1, max: 9 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        let at = noon
        const budget = createBudget({ maxRequestsPerSecond: 7, maxUnitsPerDay: 300 }, { now: () => at })
        const bySecond = new Map<number, number>()
        let units = 0
        for (const { ms, requests, weight } of steps) {
          at += ms
          if (!budget.hasRoom(requests, requests * weight)) continue
          budget.charge(requests, requests * weight)
          const second = Math.floor(at / 1_000)
          bySecond.set(second, (bySecond.get(second) ?? 0) + requests)
          units += requests * weight
        }
        expect(Math.max(0, ...bySecond.values())).toBeLessThanOrEqual(7)
        expect(units).toBeLessThanOrEqual(300)
      }),
    )
  })
})
