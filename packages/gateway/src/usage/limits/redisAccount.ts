import type { UtcDay } from '../../lib/utcDay.ts'
import type { TakenFromRedis, TakeOptions, UsedUnits } from './limitScript.ts'
import { countFitting, createCounter, getCost, getLeft } from './quotaCounter.ts'
import type { QuotaCounter } from './quotaCounter.ts'
import type { QuotaAccount } from './usageLimits.ts'

/*
 * What one instance knows about one account on a cluster. Redis counts; this decides what to tell it, and what may be granted without it. It does
 * no I/O.
 */

/** The state of one account at one instance. */
export interface RedisAccount {
  /** What Redis returned last, and what this instance granted since without it. */
  counter: QuotaCounter
  /** When Redis got the account from the ledger; 0: not known. */
  seededAt: number
  /** The connection on which Redis returned it: another one may lead to a Redis that has lost the last charges. */
  connection: number
  /** Units of `permitDay` that may be granted while Redis is lost. */
  permits: number
  /** The day for which Redis was asked for permits, in days since 1970; 0: not yet. */
  permitDay: number
  /** Units that were granted without Redis on `owedDay`, and are not in its counter yet. */
  owed: number
  owedDay: number
  /** Until when the quota is known to be used up, by the monotonic clock. */
  usedUpUntil: number
}

/** How long it is believed that others have not returned anything, in milliseconds. */
const believedMs = 1_000

/** Creates the state of an account that this instance has not asked Redis about. */
export const createRedisAccount = (day: UtcDay): RedisAccount => ({
  counter: { day, dayUsed: 0, monthUsed: 0 },
  seededAt: 0,
  connection: -1,
  permits: 0,
  permitDay: 0,
  owed: 0,
  owedDay: 0,
  usedUpUntil: 0,
})

/** Whether an account has a limit. */
const isLimited = ({ perDay, perMonth }: QuotaAccount): boolean => perDay !== null || perMonth !== null

/** What Redis returned about the account, without units that it does not know. */
const getSeen = ({ counter, owed, owedDay, seededAt }: RedisAccount): UsedUnits | undefined => {
  if (seededAt === 0) return undefined
  const { day, dayUsed, monthUsed } = counter
  const owedToday = owedDay === day.day ? owed : 0
  return { day: day.day, dayUsed: dayUsed - owedToday, monthUsed: monthUsed - owedToday }
}

/**
 * Decides what to tell Redis with a request.
 * @param connection - The number of the connection in use.
 * @param today - In days since 1970.
 */
export const toTakeOptions = (
  state: RedisAccount,
  { connection, today, outageGrant }: { connection: number; today: number; outageGrant: number },
): Pick<TakeOptions, 'floor' | 'outageGrant'> => {
  const floor = state.connection === connection ? undefined : getSeen(state)
  return { floor, outageGrant: state.permitDay === today ? 0 : outageGrant }
}

/** Takes over what Redis decided. @param now - By the monotonic clock. */
export const setTaken = (
  state: RedisAccount,
  account: QuotaAccount,
  taken: TakenFromRedis,
  { connection, asked, now }: { connection: number; asked: boolean; now: number },
): void => {
  const owed = state.owedDay === taken.day ? state.owed : 0
  // Less than before if units were returned meanwhile. Replies come in order.
  state.counter = createCounterOf(state.counter, taken, owed)
  state.seededAt = taken.seededAt
  state.connection = connection
  if (state.permitDay !== taken.day) {
    state.permits = 0
    state.permitDay = 0
  }
  if (asked) {
    state.permits += taken.permits
    state.permitDay = taken.day
  }
  if (getLeft(state.counter, account) <= 0) state.usedUpUntil = now + believedMs
}

/** Reuses the day: creating one formats a date. */
const createCounterOf = ({ day }: QuotaCounter, taken: UsedUnits, owed: number): QuotaCounter =>
  day.day === taken.day
    ? { day, dayUsed: taken.dayUsed + owed, monthUsed: taken.monthUsed + owed }
    : createCounter(taken.day, taken.dayUsed + owed, taken.monthUsed + owed)

/** Whether the quota is known to be used up, so that Redis need not be asked. @param now - By the monotonic clock. */
export const isUsedUp = (state: RedisAccount, account: QuotaAccount, today: number, now: number): boolean =>
  now < state.usedUpUntil && state.counter.day.day >= today && getLeft(state.counter, account) <= 0

/** The result of `takePermits`. */
export type TakenPermits = { readonly granted: number; readonly charged: number } | 'unknown'

/**
 * Takes units while Redis is lost: permits, and any number for an account without a limit. An account that is known to be used up stays so until
 * its day ends.
 * @returns `unknown` if the permits do not suffice and the account may have more left.
 */
export const takePermits = (
  state: RedisAccount,
  account: QuotaAccount,
  { calls, weights, today }: { calls: number; weights?: readonly number[] | undefined; today: UtcDay },
): TakenPermits => {
  if (today.day > state.counter.day.day && state.seededAt > 0) startPermitDay(state, today)
  if (!isLimited(account)) return owe(state, calls, getCost(calls, weights), today)
  const left = state.seededAt === 0 ? Infinity : getLeft(state.counter, account)
  const permits = state.permitDay === today.day ? state.permits : 0
  const granted = countFitting(calls, weights, left)
  const charged = getCost(granted, weights)
  if (charged > permits) return 'unknown'
  state.permits -= charged
  return owe(state, granted, charged, today)
}

/** A new day without Redis: no permits of that day were handed out. */
const startPermitDay = (state: RedisAccount, today: UtcDay): void => {
  const { counter } = state
  state.counter = { day: today, dayUsed: 0, monthUsed: today.month > counter.day.month ? 0 : counter.monthUsed }
}

const owe = (state: RedisAccount, granted: number, charged: number, { day }: UtcDay): TakenPermits => {
  // What was owed for another day is in the ledger, and its day is over.
  if (state.owedDay !== day) state.owed = 0
  state.owedDay = day
  state.owed += charged
  state.counter.dayUsed += charged
  state.counter.monthUsed += charged
  return { granted, charged }
}

/** Returns what Redis must be told about units granted without it, once; `undefined`: nothing. */
export const takeOwed = (
  state: RedisAccount,
): { units: number; day: number; seededAt: number; floor: UsedUnits | undefined } | undefined => {
  if (state.owed === 0) return undefined
  const { owed: units, owedDay: day, seededAt } = state
  const floor = getSeen(state)
  state.owed = 0
  return { units, day, seededAt, floor }
}
