import type { UtcDay } from '../../lib/utcDay.ts'
import { advance, believedMs, countFitting, getCost, getLeft, isLimited } from './quotaCounter.ts'
import type { Granted, QuotaCounter } from './quotaCounter.ts'
import type { Quota } from './usageLimits.ts'

/*
 * One quota on one machine. Its row says how many units this process was `reserved`, and is written before they are granted. So a process
 * that is killed can never lead over the limit: it forfeits what it had reserved and not used. This file decides; it does no I/O.
 */

/** The state of one quota in this process. */
export interface Reservation {
  /** The units that all processes have used, as far as this one knows. */
  readonly counter: QuotaCounter
  /** The units that this process has used today. */
  used: number
  /** The units that its row lets it use today. Never less than `used`, except for units granted while the database was lost. */
  reserved: number
  /** How many units are reserved in advance: more if requests have to wait. */
  inAdvance: number
  /** Whether what others use was read today. */
  isKnown: boolean
  /** When the row and what others use were read, by the clock of the limits; -Infinity: not today. */
  readAt: number
  /** Whether a write of the row is in flight. */
  isWriting: boolean
}

/** The result of a write. */
export interface ReservedRow {
  readonly charged: number
  /** The units that other processes were charged today. */
  readonly otherDay: number
  /** The units that others were charged this month, and this process on earlier days. */
  readonly otherMonth: number
}

/** The units reserved in advance, so what a kill forfeits: by default at least this many, and at most a hundredth of the limit. */
const minInAdvance = 25

/**
 * Creates the state of a quota for which it is not known what others used.
 * @param used - What this process has used today, which is what its row says.
 * @param inAdvance - With 0, nothing is reserved in advance.
 */
export const createReservation = (day: UtcDay, used = 0, inAdvance = minInAdvance): Reservation => ({
  counter: { day, dayUsed: used, monthUsed: used },
  used,
  reserved: used,
  inAdvance,
  isKnown: false,
  readAt: -Infinity,
  isWriting: false,
})

/** The most units that are reserved in advance. */
const getMaxInAdvance = ({ perDay, perMonth }: Quota): number =>
  Math.max(minInAdvance, Math.floor(Math.min(perDay ?? Infinity, perMonth ?? Infinity) / 100))

/** A day that ended, and must still be written. */
export interface PastDay {
  readonly day: UtcDay
  readonly used: number
  /** The least value of its row, whether or not the last write to it fails. */
  readonly reserved: number
}

/** The units of a new row, if a write to the old one may have failed or may still come. */
export const getUnwritten = ({ used, reserved }: Pick<PastDay, 'used' | 'reserved'>): number =>
  Math.max(0, used - reserved)

/**
 * Starts a later day.
 * @returns What must be written for the day that ended; `undefined` if nothing.
 */
export const startDay = (state: Reservation, day: UtcDay): PastDay | undefined => {
  const { counter, used, reserved, isWriting } = state
  const ended = counter.day
  if (day.day <= ended.day) return undefined
  advance(counter, day)
  state.used = 0
  state.reserved = 0
  state.isKnown = false
  state.readAt = -Infinity
  return used === reserved && !isWriting ? undefined : { day: ended, used, reserved }
}

/**
 * Grants units to the first calls that fit into the limits.
 * @param request.outageGrant - Units that may be granted beyond those reserved, because the database is lost.
 * @returns `wait` until more is reserved, or until what others use was read.
 */
export const grantReserved = (
  state: Reservation,
  quota: Quota,
  request: { calls: number; weights?: readonly number[] | undefined; now: number; outageGrant?: number },
): Granted => {
  const { counter } = state
  const { calls, weights, now, outageGrant = 0 } = request
  const wanted = getCost(calls, weights)
  if (!isLimited(quota)) return grant(state, calls, wanted)
  const free = state.reserved - state.used + outageGrant
  const left = getLeft(counter, quota)
  if (wanted <= left && wanted <= free) return grant(state, calls, wanted)
  // Others may have returned units since their rows were read.
  const isCurrent = now - state.readAt < believedMs || (outageGrant > 0 && state.isKnown)
  if (isCurrent) {
    const granted = countFitting(calls, weights, left)
    const charged = getCost(granted, weights)
    if (charged <= free) return grant(state, granted, charged)
  }
  if (state.isKnown) state.inAdvance = Math.min(state.inAdvance * 2, getMaxInAdvance(quota))
  return 'wait'
}

const grant = (state: Reservation, granted: number, charged: number): Granted => {
  state.used += charged
  state.counter.dayUsed += charged
  state.counter.monthUsed += charged
  return { granted, charged }
}

/** Returns units of a grant of today. */
export const returnReserved = (state: Reservation, units: number): void => {
  state.used -= units
  state.counter.dayUsed -= units
  state.counter.monthUsed -= units
}

/** Whether so little is reserved in advance that more should be, before a call has to wait. */
export const isRunningLow = (state: Reservation, quota: Quota): boolean =>
  isLimited(quota) && state.reserved - state.used < state.inAdvance / 2 && getLeft(state.counter, quota) > 0

/** The value that the row should have. @param waiting - Units that requests wait for. */
export const getTarget = (state: Reservation, quota: Quota, waiting: number): number =>
  state.used + waiting + (isLimited(quota) ? state.inAdvance : 0)

/**
 * Starts a write of the row. Units that the write gives up cannot be granted while it is in flight.
 * @param target - At least what was used.
 * @returns What the row must say at least, because so much may be used before the write completes.
 */
export const startWrite = (state: Reservation, target: number): number => {
  state.isWriting = true
  state.reserved = Math.min(state.reserved, target)
  return Math.max(state.used, state.reserved)
}

/** Takes over what a write returned. @param day - The day of the row: nothing is taken over if it has ended. */
export const setReserved = (
  state: Reservation,
  day: UtcDay,
  { charged, otherDay, otherMonth }: ReservedRow,
  now: number,
): void => {
  state.isWriting = false
  if (day.day !== state.counter.day.day) return
  state.reserved = charged
  state.counter.dayUsed = otherDay + state.used
  state.counter.monthUsed = otherMonth + state.used
  state.isKnown = true
  state.readAt = now
}

/**
 * Leaves the row as it is, because it is not known whether a write to it has failed or is still to come. The next write goes to a new row, and
 * counts this one among those of others.
 */
export const abandonRow = (state: Reservation): void => {
  state.used = getUnwritten(state)
  state.reserved = 0
  state.isWriting = false
  state.inAdvance = Math.min(state.inAdvance, minInAdvance)
  state.readAt = -Infinity
}
