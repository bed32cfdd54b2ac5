import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { toUtcDay } from '../../lib/utcDay.ts'
import type { UtcDay } from '../../lib/utcDay.ts'
import type { Charge, TakenFromRedis, TakeOptions, UsedUnits } from './limitScript.ts'
import { advance, getLeft, isLimited } from './quotaCounter.ts'
import type { QuotaCounter } from './quotaCounter.ts'
import {
  createRedisQuota,
  isUsedUp,
  returnCharged,
  returnUnits,
  setTaken,
  takeUnreported,
  grantReserved,
  toTakeOptions,
} from './redisQuota.ts'
import type { Quota } from './usageLimits.ts'

/** 2026-11-29: a month ends after the second day. */
const firstDay = 20_786
const outageGrant = 20

interface StoredQuota extends QuotaCounter {
  handed: number
  seededAt: number
}
type Take = Pick<TakeOptions, 'floor' | 'seed' | 'outageGrant'> & {
  readonly calls: number
  readonly isReserving: boolean
}

/** The quota in Redis, as the scripts in `limitScript.ts` treat it. */
const createRedis = ({ perDay, perMonth }: Quota) => {
  const clock = { now: 1, day: toUtcDay(firstDay) }
  let quota: StoredQuota | undefined
  let snapshot: StoredQuota | undefined
  const start = (stored: StoredQuota): void => {
    if (clock.day.day > stored.day.day) stored.handed = 0
    advance(stored, clock.day)
  }
  const raise = (stored: StoredQuota, floor: UsedUnits | undefined): void => {
    if (floor === undefined) return
    if (floor.day === stored.day.day) stored.dayUsed = Math.max(stored.dayUsed, floor.dayUsed)
    if (toUtcDay(floor.day).month === stored.day.month) stored.monthUsed = Math.max(stored.monthUsed, floor.monthUsed)
  }
  return {
    clock,
    get: () => quota,
    save: () => (snapshot = quota && { ...quota }),
    /** Goes back to what was saved last. @returns How many units of the day or the month it forgot. */
    loseLast: (): number => {
      const before = quota && { ...quota }
      quota = snapshot && { ...snapshot }
      // A missing quota is seeded with everything.
      if (before === undefined || quota === undefined) return 0
      start(before)
      start(quota)
      return Math.max(0, before.dayUsed - quota.dayUsed, before.monthUsed - quota.monthUsed)
    },
    loseAll: () => {
      quota = undefined
      snapshot = undefined
    },
    take: ({ calls, floor, seed, outageGrant: most }: Take): TakenFromRedis | 'missing' => {
      if (quota === undefined && seed !== undefined)
        quota = { ...seed, day: toUtcDay(seed.day), handed: 0, seededAt: seed.at }
      if (quota === undefined) return 'missing'
      start(quota)
      raise(quota, floor)
      const left = Math.min((perDay ?? Infinity) - quota.dayUsed, (perMonth ?? Infinity) - quota.monthUsed)
      const charged = Math.max(0, Math.min(calls, left))
      quota.dayUsed += charged
      quota.monthUsed += charged
      const share = Math.min(Math.ceil((most - quota.handed) / 4), left - charged)
      const permits = left === Infinity ? 0 : Math.max(0, share)
      quota.handed += permits
      const { day, dayUsed, monthUsed, seededAt } = quota
      const rate = { rated: calls, spent: 0 }
      const used = { day: day.day, dayUsed, monthUsed }
      return {
        status: 'taken',
        now: clock.now,
        ...rate,
        granted: charged,
        charged,
        ...used,
        reserved: permits,
        seededAt,
      }
    },
    charge: ({ units, day, seededAt, writtenAt = 0, floor }: Charge): void => {
      if (quota === undefined) return
      if (quota.seededAt !== seededAt && (units < 0 || quota.seededAt >= writtenAt)) return
      start(quota)
      raise(quota, floor)
      if (day === quota.day.day) quota.dayUsed = Math.max(0, quota.dayUsed + units)
      if (toUtcDay(day).month === quota.day.month) quota.monthUsed = Math.max(0, quota.monthUsed + units)
    },
  }
}

type Sent = { readonly take: Take } | { readonly charge: Charge }
interface Instance {
  state: ReturnType<typeof createRedisQuota>
  connection: number
  isLost: boolean
  /** Sent, and not run yet. */
  sent: Sent[]
  replies: { readonly reply: TakenFromRedis | 'missing'; readonly take: Take }[]
  grants: { readonly day: number; units: number }[]
  unwritten: { readonly day: UtcDay; readonly units: number }[]
}

const setUp = (quota: Quota, count: number) => {
  const redis = createRedis(quota)
  const { clock } = redis
  const granted: { readonly day: UtcDay; readonly units: number }[] = []
  const ledger: { readonly day: UtcDay; readonly units: number }[] = []
  let [permits, handed, connections] = [0, 0, 0]
  const instances = Array.from({ length: count }, (): Instance => ({
    state: createRedisQuota(clock.day),
    connection: (connections += 1),
    isLost: false,
    sent: [],
    replies: [],
    grants: [],
    unwritten: [],
  }))
  const sum = (rows: readonly { readonly day: UtcDay; readonly units: number }[]): UsedUnits => {
    const add = (isIncluded: (day: UtcDay) => boolean): number =>
      rows.reduce((total, { day, units }) => total + (isIncluded(day) ? units : 0), 0)
    const { day, month } = clock.day
    return { day, dayUsed: add((each) => each.day === day), monthUsed: add((each) => each.month === month) }
  }
  const record = (one: Instance, day: UtcDay, units: number): void => {
    granted.push({ day, units })
    one.unwritten.push({ day, units })
  }
  const flush = (one: Instance): void => void ledger.push(...one.unwritten.splice(0))
  const send = (one: Instance, calls: number, seed?: Take['seed']): void => {
    const options = toTakeOptions(one.state, { connection: one.connection, today: clock.day.day, outageGrant })
    const isReserving = options.outageGrant > 0
    if (isReserving) one.state.reservedDay = clock.day.day
    one.sent.push({ take: { ...options, seed, calls, isReserving } })
  }
  const takeAlone = (one: Instance, calls: number): void => {
    const taken = grantReserved(one.state, quota, { calls, today: clock.day, isLost: true })
    if (taken === 'wait' || taken.charged === 0) return
    permits += taken.charged
    one.grants.push({ day: clock.day.day, units: taken.charged })
    record(one, clock.day, taken.charged)
  }
  const run = (one: Instance): void => {
    const [next] = one.sent.splice(0, 1)
    if (next === undefined) return
    if ('charge' in next) return redis.charge(next.charge)
    const reply = redis.take(next.take)
    if (reply !== 'missing') handed += reply.reserved
    one.replies.push({ reply, take: next.take })
  }
  const deliver = (one: Instance): void => {
    const [next] = one.replies.splice(0, 1)
    if (next === undefined) return
    const { reply, take } = next
    if (reply !== 'missing') {
      setTaken(one.state, quota, reply, { connection: one.connection, isReserving: take.isReserving, now: 0 })
      if (reply.charged === 0) return
      one.grants.push({ day: reply.day, units: reply.charged })
      record(one, toUtcDay(reply.day), reply.charged)
      return
    }
    if (take.isReserving) one.state.reservedDay = 0
    // By then, all instances have written their grants.
    instances.forEach(flush)
    send(one, take.calls, { ...sum(ledger), at: clock.now })
  }
  const finish = (one: Instance): void => {
    while (one.sent.length > 0 || one.replies.length > 0) {
      run(one)
      deliver(one)
    }
  }
  /** The connection breaks. Requests that were sent are decided alone. */
  const lose = (one: Instance): void => {
    if (one.isLost) return
    one.isLost = true
    const requests = [...one.sent, ...one.replies].filter((each) => 'take' in each)
    one.sent = []
    one.replies = []
    for (const { take } of requests) {
      if (take.isReserving) one.state.reservedDay = 0
      takeAlone(one, take.calls)
    }
  }
  const connect = (one: Instance): void => {
    if (!one.isLost) return
    one.isLost = false
    one.connection = connections += 1
  }
  const sendOwed = (one: Instance): void => {
    if (one.isLost) return
    flush(one)
    const writtenAt = (clock.now += 1)
    for (const charge of takeUnreported(one.state)) one.sent.push({ charge: { ...charge, writtenAt } })
  }
  return {
    redis,
    instances,
    finish,
    run,
    deliver,
    lose,
    connect,
    sendOwed,
    getGranted: () => sum(granted),
    getPermits: () => ({ permits, handed }),
    take: (one: Instance, calls: number): void => (one.isLost ? takeAlone(one, calls) : send(one, calls)),
    /** A request that waited too long is decided alone, and what Redis grants later is returned. */
    expire: (one: Instance): void => {
      const [next] = one.replies.splice(0, 1)
      if (next === undefined) return
      takeAlone(one, next.take.calls)
      if (next.reply === 'missing') return
      const { charged, day, seededAt } = next.reply
      const { isReserving } = next.take
      setTaken(one.state, quota, next.reply, { connection: one.connection, isReserving, now: 0 })
      returnCharged(one.state, charged)
      one.sent.push({ charge: { units: -charged, day, seededAt } })
    },
    giveBack: (one: Instance, wanted: number): void => {
      const grant = one.grants.pop()
      if (grant?.day !== clock.day.day) return
      const units = Math.min(wanted, grant.units)
      record(one, clock.day, -units)
      const known = returnUnits(one.state, quota, units, clock.day)
      permits -= quota.perDay === null && quota.perMonth === null ? 0 : units - known
      const { seededAt } = one.state
      if (known > 0 && !one.isLost) one.sent.push({ charge: { units: -known, day: clock.day.day, seededAt } })
    },
    writeAll: (): void => {
      for (const one of instances) {
        connect(one)
        finish(one)
        sendOwed(one)
        finish(one)
        // So that Redis has the quota on this day.
        send(one, 0)
        finish(one)
      }
    },
  }
}

const toOp = <Op extends string>(weight: number, op: Op) => ({
  weight,
  arbitrary: fc.record({ op: fc.constant(op), units: fc.integer({ min: 1, max: 15 }) }),
})
const step = fc.oneof(
  toOp(10, 'request'),
  toOp(4, 'take'),
  toOp(4, 'run'),
  toOp(4, 'deliver'),
  toOp(3, 'giveBack'),
  toOp(2, 'lose'),
  toOp(3, 'connect'),
  toOp(3, 'sendOwed'),
  toOp(1, 'expire'),
  toOp(1, 'nextDay'),
  toOp(2, 'save'),
  toOp(2, 'loseLast'),
  toOp(1, 'loseAll'),
  toOp(3, 'tick'),
)
const steps = fc.array(fc.tuple(fc.nat(2), step), { maxLength: 80, size: 'max' })
const limit = fc.constantFrom(null, 10, 20, 50)

test('never grants more than the limits, the permits, and the units that a failover lost before any instance saw them', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3 }), limit, limit, fc.boolean(), steps, (...given) => {
      const [count, perDay, perMonth, hasFaults, all] = given
      const quota = { id: 'user:usr_1', perDay, perMonth }
      const model = setUp(quota, count)
      const { instances, redis } = model
      let [lost, losses, days, isExact] = [0, 0, 1, !hasFaults]
      const check = (): void => {
        const { dayUsed, monthUsed } = model.getGranted()
        const { permits, handed } = model.getPermits()
        const over = permits + lost
        if (perDay !== null) expect(dayUsed).toBeLessThanOrEqual(perDay + over)
        if (perMonth !== null) expect(monthUsed).toBeLessThanOrEqual(perMonth + over)
        if (perDay === null && perMonth === null) return
        expect(permits).toBeLessThanOrEqual(handed)
        expect(handed).toBeLessThanOrEqual(outageGrant * (days + losses))
      }
      // A seed may include units that an instance reports to Redis later.
      if (!hasFaults) model.writeAll()
      for (const [at, { op, units }] of all) {
        const one = instances[at % count]
        if (one === undefined) continue
        if (op === 'take' || op === 'request') {
          model.take(one, units)
          if (op === 'request') model.finish(one)
        } else if (op === 'giveBack') {
          // What an instance has seen is a floor, so Redis counts too much if units were returned after it was sent; or if it was lost then.
          isExact &&= count === 1 && !one.isLost
          if (isExact) model.finish(one)
          model.giveBack(one, units)
        } else if (op === 'nextDay') {
          redis.clock.day = toUtcDay(redis.clock.day.day + 1)
          redis.clock.now += 1
          days += 1
        } else if (op === 'tick') redis.clock.now += 1
        else if (op === 'save') redis.save()
        else if (op === 'lose') {
          if (!hasFaults) model.finish(one)
          model.lose(one)
        } else if (op === 'expire') {
          if (hasFaults) model.expire(one)
        } else if (op !== 'loseLast' && op !== 'loseAll') model[op](one)
        else if (hasFaults) {
          instances.forEach(model.lose)
          // Until it is back, so that it is not seeded twice in one millisecond.
          redis.clock.now += 1
          const forgotten = op === 'loseAll' ? redis.loseAll() : redis.loseLast()
          // A single instance has seen everything that it granted.
          if (count > 1) lost += forgotten ?? 0
          losses += 1
        }
        check()
      }
      model.writeAll()
      check()
      const { dayUsed, monthUsed } = model.getGranted()
      const stored = redis.get()
      if (isExact) expect(stored).toMatchObject({ dayUsed, monthUsed })
      // A connection may break before the units granted without Redis are reported to it.
      else expect(stored?.monthUsed).toBeGreaterThanOrEqual(monthUsed - lost - model.getPermits().permits)
    }),
    { numRuns: fuzzCases(2_000) },
  )
})

test('what an instance knows is what Redis has counted, and what was granted and returned without it', () => {
  const operation = fc.record({
    op: fc.constantFrom('take', 'take', 'expire', 'takeAlone', 'giveBack', 'report', 'reconnect', 'nextDay', 'wait'),
    units: fc.integer({ min: 1, max: 15 }),
  })
  fc.assert(
    fc.property(limit, limit, fc.array(operation, { maxLength: 60, size: 'max' }), (perDay, perMonth, all) => {
      const quota = { id: 'user:usr_1', perDay, perMonth }
      const redis = createRedis(quota)
      const { clock } = redis
      const state = createRedisQuota(clock.day)
      const unreported = new Map<number, { readonly day: UtcDay; units: number }>()
      let grants: number[] = []
      let [connection, now, reserved] = [1, 0, 0]
      const getToday = () => unreported.get(clock.day.day)?.units ?? 0
      const addUnreported = (units: number) =>
        unreported.set(clock.day.day, { day: clock.day, units: getToday() + units })
      const getKnown = (counter: QuotaCounter | undefined): QuotaCounter => {
        const known = { day: clock.day, dayUsed: 0, monthUsed: 0, ...counter }
        advance(known, clock.day)
        const { day, dayUsed, monthUsed } = known
        return { day, dayUsed, monthUsed }
      }
      /** What Redis has, and what it does not know. */
      const getExpected = (): QuotaCounter => {
        const expected = getKnown(redis.get())
        expected.dayUsed += getToday()
        for (const { day, units } of unreported.values()) if (day.month === clock.day.month) expected.monthUsed += units
        return expected
      }
      const take = (calls: number): TakenFromRedis => {
        const options = toTakeOptions(state, { connection, today: clock.day.day, outageGrant })
        const isReserving = options.outageGrant > 0
        const seed = { day: firstDay, dayUsed: 3, monthUsed: 5, at: clock.now }
        const reply = redis.take({ ...options, calls, isReserving, seed })
        if (reply === 'missing') throw new Error('Redis has the quota')
        setTaken(state, quota, reply, { connection, isReserving, now })
        reserved += reply.reserved
        expect(isUsedUp(state, quota, clock.day.day, now + 999)).toBe(getLeft(getExpected(), quota) <= 0)
        expect(isUsedUp(state, quota, clock.day.day, now + 1_000)).toBe(false)
        expect(isUsedUp(state, quota, clock.day.day + 1, now)).toBe(false)
        expect(toTakeOptions(state, { connection, today: clock.day.day, outageGrant })).toEqual({
          floor: undefined,
          outageGrant: 0,
        })
        expect(toTakeOptions(state, { connection: 0, today: clock.day.day, outageGrant }).floor).toBeDefined()
        return reply
      }
      take(1)
      for (const { op, units } of all) {
        if (op === 'take') grants.push(take(units).charged)
        else if (op === 'expire') {
          const { charged, day, seededAt } = take(units)
          returnCharged(state, charged)
          redis.charge({ units: -charged, day, seededAt })
        } else if (op === 'takeAlone') {
          const taken = grantReserved(state, quota, { calls: units, today: clock.day, isLost: true })
          if (taken !== 'wait') {
            if (isLimited(quota)) reserved -= taken.charged
            addUnreported(taken.charged)
            grants.push(taken.charged)
          }
        } else if (op === 'giveBack') {
          const returned = Math.min(units, grants.pop() ?? 0)
          const alone = Math.min(returned, getToday())
          expect(returnUnits(state, quota, returned, clock.day)).toBe(returned - alone)
          addUnreported(-alone)
          if (isLimited(quota)) reserved += alone
          redis.charge({ units: alone - returned, day: clock.day.day, seededAt: state.seededAt })
        } else if (op === 'report') {
          for (const charge of takeUnreported(state)) redis.charge({ ...charge, writtenAt: clock.now + 1 })
          unreported.clear()
        } else if (op === 'reconnect') connection += 1
        else if (op === 'nextDay') {
          clock.day = toUtcDay(clock.day.day + 1)
          grants = []
          reserved = 0
        } else now += 500
        expect(getKnown(state.counter)).toEqual(getExpected())
        expect(state.reservedDay === clock.day.day ? state.reserved : 0).toBe(reserved)
        expect(reserved).toBeGreaterThanOrEqual(0)
      }
    }),
    { numRuns: fuzzCases(1_000) },
  )
})
