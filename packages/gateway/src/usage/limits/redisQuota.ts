import { toUtcDay } from '../../lib/utcDay.ts'
import type { UtcDay } from '../../lib/utcDay.ts'
import type { Charge, TakenFromRedis, TakeOptions, UsedUnits } from './limitScript.ts'
import { advance, believedMs, countFitting, getCost, getLeft, isLimited } from './quotaCounter.ts'
import type { Granted, QuotaCounter } from './quotaCounter.ts'
import type { Quota } from './usageLimits.ts'

/*
 * The state of one quota on one instance of a cluster. Redis counts; this decides which options to send to Redis, and which units may be granted without it. It does
 * no I/O.
 */

/** The state of one quota at one instance. */
export interface RedisQuota {
  /** The last response of Redis, and the units that this instance has granted without it and returned since. */
  counter: QuotaCounter
  /** When Redis got the quota from the ledger; 0: not known. */
  seededAt: number
  /** The connection on which Redis returned it: another one may lead to a Redis that has lost the last charges. */
  connection: number
  /** Units of `reservedDay` that may be granted while Redis is lost. */
  reserved: number
  /** The day for which units were reserved, in days since 1970; 0: not yet. */
  reservedDay: number
  /** Units that were granted without Redis and not reported to it yet, one entry a day. */
  unreported: readonly UnreportedUnits[]
  /** Until when the quota is known to be used up, by the monotonic clock. */
  usedUpUntil: number
}

/** Units of a day that Redis does not know. */
export interface UnreportedUnits {
  readonly day: UtcDay
  readonly units: number
}

const nothingUnreported: readonly UnreportedUnits[] = []

/** Creates the state of a quota that this instance has not queried in Redis yet. */
export const createRedisQuota = (day: UtcDay): RedisQuota => ({
  counter: { day, dayUsed: 0, monthUsed: 0 },
  seededAt: 0,
  connection: -1,
  reserved: 0,
  reservedDay: 0,
  unreported: nothingUnreported,
  usedUpUntil: 0,
})

/** The unreported units of a day and its month. */
const sumUnreported = ({ unreported }: RedisQuota, { day, month }: UtcDay): { inDay: number; inMonth: number } => {
  let [inDay, inMonth] = [0, 0]
  for (const one of unreported) {
    if (one.day.day === day) inDay += one.units
    if (one.day.month === month) inMonth += one.units
  }
  return { inDay, inMonth }
}

/** Adds unreported units of a day. Those of past months are dropped: they are in the ledger, and their windows are over. */
const addUnreported = (
  unreported: readonly UnreportedUnits[],
  day: UtcDay,
  units: number,
): readonly UnreportedUnits[] => {
  const before = unreported.find((one) => one.day.day === day.day)?.units ?? 0
  const others = unreported.filter((one) => one.day.day !== day.day && one.day.month >= day.month)
  return before + units === 0 ? others : [...others, { day, units: before + units }]
}

/** The response of Redis about the quota, without units that it does not know. */
const getSeen = (state: RedisQuota): UsedUnits | undefined => {
  if (state.seededAt === 0) return undefined
  const { day, dayUsed, monthUsed } = state.counter
  const { inDay, inMonth } = sumUnreported(state, day)
  return { day: day.day, dayUsed: dayUsed - inDay, monthUsed: monthUsed - inMonth }
}

/**
 * Decides on the options for Redis with a request.
 * @param connection - The number of the connection in use.
 * @param today - In days since 1970.
 */
export const toTakeOptions = (
  state: RedisQuota,
  { connection, today, outageGrant }: { connection: number; today: number; outageGrant: number },
): Pick<TakeOptions, 'floor' | 'outageGrant'> => {
  const floor = state.connection === connection ? undefined : getSeen(state)
  return { floor, outageGrant: state.reservedDay === today ? 0 : outageGrant }
}

/** Takes over what Redis decided. @param now - By the monotonic clock. */
export const setTaken = (
  state: RedisQuota,
  quota: Quota,
  taken: TakenFromRedis,
  { connection, isReserving, now }: { connection: number; isReserving: boolean; now: number },
): void => {
  // Reused, because creating a day formats a date.
  const day = state.counter.day.day === taken.day ? state.counter.day : toUtcDay(taken.day)
  const { inDay, inMonth } = sumUnreported(state, day)
  // Less than before if units were returned in the meantime. Replies arrive in order.
  state.counter = { day, dayUsed: taken.dayUsed + inDay, monthUsed: taken.monthUsed + inMonth }
  state.seededAt = taken.seededAt
  state.connection = connection
  if (state.reservedDay !== taken.day) {
    state.reserved = 0
    state.reservedDay = 0
  }
  if (isReserving) {
    state.reserved += taken.reserved
    state.reservedDay = taken.day
  }
  if (getLeft(state.counter, quota) <= 0) state.usedUpUntil = now + believedMs
}

/** Returns units that Redis has just charged to a request that no longer waits for them. Units that were granted without Redis stay unreported. */
export const returnCharged = ({ counter }: RedisQuota, units: number): void => {
  counter.dayUsed -= units
  counter.monthUsed -= units
}

/** Whether the quota is known to be used up, so that no request to Redis is needed. @param now - By the monotonic clock. */
export const isUsedUp = (state: RedisQuota, quota: Quota, today: number, now: number): boolean =>
  now < state.usedUpUntil && state.counter.day.day >= today && getLeft(state.counter, quota) <= 0

/**
 * Grants units without Redis: those reserved if it is lost, and any number to a quota without a limit. A quota that is known to be used up stays
 * so until its day ends.
 * @returns `wait` if too little is reserved and the quota may have more left.
 */
export const grantReserved = (
  state: RedisQuota,
  quota: Quota,
  {
    calls,
    weights,
    today,
    isLost,
  }: { calls: number; weights?: readonly number[] | undefined; today: UtcDay; isLost: boolean },
): Granted => {
  advance(state.counter, today)
  const { day } = state.counter
  if (!isLimited(quota)) return grant(state, calls, getCost(calls, weights))
  const left = state.seededAt === 0 ? Infinity : getLeft(state.counter, quota)
  const reserved = isLost && state.reservedDay === day.day ? state.reserved : 0
  const granted = countFitting(calls, weights, left)
  const charged = getCost(granted, weights)
  if (charged > reserved) return 'wait'
  state.reserved -= charged
  return grant(state, granted, charged)
}

const grant = (state: RedisQuota, granted: number, charged: number): Granted => {
  const { counter } = state
  state.unreported = addUnreported(state.unreported, counter.day, charged)
  counter.dayUsed += charged
  counter.monthUsed += charged
  return { granted, charged }
}

/**
 * Returns units of a grant of today. Units that Redis does not know are returned without it.
 * @param quota - With the limits that the grant was made for.
 * @returns How many units must be reported to Redis.
 */
export const returnUnits = (state: RedisQuota, quota: Quota, units: number, today: UtcDay): number => {
  const { counter } = state
  const unknown = Math.min(units, sumUnreported(state, today).inDay)
  state.unreported = addUnreported(state.unreported, today, -unknown)
  if (isLimited(quota) && state.reservedDay === today.day) state.reserved += unknown
  advance(counter, today)
  if (counter.day.day === today.day) {
    // Without a reply of Redis, the counter has only what is unreported.
    const counted = state.seededAt === 0 ? unknown : units
    counter.dayUsed -= counted
    counter.monthUsed -= counted
  }
  return units - unknown
}

/** Returns the charge to send to a Redis that may have lost the last charges; `undefined`: this instance has seen nothing. */
export const toFloorCharge = (state: RedisQuota): Charge | undefined => {
  const floor = getSeen(state)
  if (floor === undefined) return undefined
  // The units that were seen were charged, so they count after another seed too.
  return { units: 0, day: floor.day, seededAt: state.seededAt, writtenAt: Number.MAX_SAFE_INTEGER, floor }
}

/** Returns the units granted without Redis that must be reported to it. Returns them once. */
export const takeUnreported = (state: RedisQuota): readonly Omit<Charge, 'writtenAt'>[] => {
  const { unreported, seededAt } = state
  const floor = getSeen(state)
  state.unreported = nothingUnreported
  return unreported.map(({ day, units }) => ({ units, day: day.day, seededAt, floor }))
}
