import { randomUUID } from 'node:crypto'
import { getUtcDay } from '../../lib/utcDay.ts'
import type { UtcDay } from '../../lib/utcDay.ts'
import type { ReserveRequest } from './accountDays.ts'
import { isLimited } from './quotaCounter.ts'
import {
  abandonRow,
  createReservation,
  getTarget,
  getUnwritten,
  setReserved,
  startDay,
  startWrite,
} from './reservation.ts'
import type { PastDay, ReservedRow, Reservation } from './reservation.ts'
import type { Quota } from './usageLimits.ts'

/*
 * The quotas of a service on one machine, and which of their rows are written when. This file decides; `createLocalLimits.ts` reads and writes.
 */

/** A quota that had a request lately. */
export interface LocalQuota extends Reservation {
  /** The row of this process. */
  run: string
  /** Has the limits of the last request. */
  quota: Quota
  /** The last tick before the last request, by the clock of the limits. */
  usedAt: number
}

/** The row of a day that ended with units that were reserved and not used, or used and not written. */
interface PastRow extends PastDay {
  readonly quota: string
  readonly run: string
}

/** The quotas of this process. */
export interface LocalQuotas {
  /** Whether there is a storage. Without one, nothing has to be reserved. */
  readonly hasRows: boolean
  /** With 0, nothing is reserved in advance; `undefined`: the default. */
  readonly inAdvance: 0 | undefined
  /** How long a quota without a request keeps what is reserved for it, in milliseconds. */
  readonly idleMs: number
  readonly active: Map<string, LocalQuota>
  /** The rows of today of quotas that were idle for too long. Nothing is reserved for them. */
  readonly idle: Map<string, { readonly run: string; readonly used: number }>
  /** Quotas whose rows will be written. */
  readonly toWrite: Set<LocalQuota>
  pastRows: PastRow[]
  today: UtcDay
  /** When the last tick was: precise enough to know which quotas are idle. */
  tickedAt: number
}

/** Rows written in one transaction. */
const maxRows = 250
/** How often the usage of quotas without a limit is written, in milliseconds. */
const countEveryMs = 2_000

/** Creates the state of a process that has not had a request. */
export const createLocalQuotas = (
  options: Pick<LocalQuotas, 'hasRows' | 'inAdvance' | 'idleMs' | 'tickedAt'> & { readonly ms: number },
): LocalQuotas => {
  const { ms, ...rest } = options
  const collections = { active: new Map(), idle: new Map(), toWrite: new Set<LocalQuota>(), pastRows: [] }
  return { ...rest, ...collections, today: getUtcDay(ms) }
}

/** Starts a later day. @param ms - The time, in milliseconds since 1970. */
export const updateToday = (all: LocalQuotas, ms: number): UtcDay => {
  if (ms >= all.today.endMs) {
    all.today = getUtcDay(ms)
    all.idle.clear()
  }
  return all.today
}

/** Starts today for a quota, if its day is an earlier one. */
export const startToday = (all: LocalQuotas, state: LocalQuota): void => {
  const past = startDay(state, all.today)
  if (past !== undefined && all.hasRows) all.pastRows.push({ quota: state.quota.id, run: state.run, ...past })
}

/** Gets the state of a quota today. It is created if there is none. */
export const getQuota = (all: LocalQuotas, quota: Quota): LocalQuota => {
  let state = all.active.get(quota.id)
  if (state === undefined) {
    const { run, used } = all.idle.get(quota.id) ?? { run: randomUUID(), used: 0 }
    all.idle.delete(quota.id)
    state = { ...createReservation(all.today, used, all.inAdvance), run, quota, usedAt: all.tickedAt }
    all.active.set(quota.id, state)
  }
  startToday(all, state)
  return state
}

/** Gets the state of a quota for a request. */
export const useQuota = (all: LocalQuotas, quota: Quota): LocalQuota => {
  const state = getQuota(all, quota)
  if (!all.hasRows && state.reserved !== Infinity) {
    const otherMonth = state.counter.monthUsed - state.used
    setReserved(state, state.counter.day, { charged: Infinity, otherDay: 0, otherMonth }, Infinity)
  }
  state.quota = quota
  state.usedAt = all.tickedAt
  return state
}

/** Whether any row must be written. */
export const isAnyToWrite = ({ toWrite, pastRows }: LocalQuotas): boolean => toWrite.size > 0 || pastRows.length > 0

/** Rows that are written in one transaction: first those of past days. */
export interface RowsWrite {
  readonly past: readonly PastRow[]
  readonly due: readonly LocalQuota[]
  readonly requests: readonly ReserveRequest[]
}

/**
 * Starts to write up to 250 rows.
 * @param options.getWaitingUnits - Returns the units that the requests of a quota wait for.
 * @param options.isClosing - Nothing is reserved in advance any more.
 */
export const startRows = (
  all: LocalQuotas,
  options: {
    readonly now: number
    readonly getWaitingUnits: (state: LocalQuota) => number
    readonly isClosing: boolean
  },
): RowsWrite => {
  const past = all.pastRows.slice(0, maxRows)
  const due = [...all.toWrite].slice(0, maxRows - past.length)
  const unlimited = { perDay: null, perMonth: null }
  const pastRequests = past.map(({ quota, run, day, used }): ReserveRequest => ({
    account: quota,
    run,
    day,
    atLeast: used,
    target: used,
    ...unlimited,
  }))
  const requests = due.map((state): ReserveRequest => {
    all.toWrite.delete(state)
    startToday(all, state)
    const waiting = options.getWaitingUnits(state)
    const isIdle = waiting === 0 && options.now - state.usedAt >= all.idleMs
    const target = isIdle || options.isClosing ? state.used : getTarget(state, state.quota, waiting)
    const { perDay, perMonth, id: account } = state.quota
    const atLeast = startWrite(state, target)
    return { account, run: state.run, day: state.counter.day, atLeast, target, perDay, perMonth }
  })
  return { past, due, requests: [...pastRequests, ...requests] }
}

/** Takes over what was written. @param rows - One for each request. */
export const completeRows = (
  all: LocalQuotas,
  { past, due, requests }: RowsWrite,
  rows: readonly ReservedRow[],
  now: number,
): void => {
  all.pastRows = all.pastRows.slice(past.length)
  for (const [index, state] of due.entries()) {
    const at = past.length + index
    const [row, request] = [rows[at], requests[at]]
    if (row !== undefined && request !== undefined) setReserved(state, request.day, row, now)
  }
}

/**
 * Handles that it is not known whether rows were written, or still will be. The next writes go to new rows. If the day of a row has ended since, what
 * is left of it goes to a new row too, which the write cannot overwrite.
 * @param isWaiting - Whether a request of the quota waits.
 */
export const failRows = (
  all: LocalQuotas,
  { past, due, requests }: RowsWrite,
  isWaiting: (state: LocalQuota) => boolean,
): void => {
  for (const { run, day } of requests.slice(past.length)) {
    const at = all.pastRows.findIndex((row) => row.run === run && row.day.day === day.day)
    const row = all.pastRows[at]
    if (row !== undefined) all.pastRows[at] = { ...row, run: randomUUID(), used: getUnwritten(row), reserved: 0 }
  }
  for (const state of due) {
    abandonRow(state)
    state.run = randomUUID()
    if (isWaiting(state) || state.used > 0) all.toWrite.add(state)
  }
}

/** Plans to return what idle quotas have reserved and to write what quotas without a limit have used, and drops the state of idle quotas. */
export const tickQuotas = (all: LocalQuotas, now: number, isWaiting: (state: LocalQuota) => boolean): void => {
  all.tickedAt = now
  for (const [id, state] of all.active) {
    startToday(all, state)
    if (state.isWriting) continue
    const isIdle = now - state.usedAt >= all.idleMs && !isWaiting(state)
    const isWritten = !all.hasRows || state.used === state.reserved
    const isDue = isIdle || (!isLimited(state.quota) && now - state.readAt >= countEveryMs)
    if (!isWritten && isDue) all.toWrite.add(state)
    else if (isWritten && isIdle) {
      all.active.delete(id)
      all.idle.set(id, { run: state.run, used: state.used })
    }
  }
}

/** Plans to return all that is reserved and not used. */
export const returnAll = (all: LocalQuotas): void => {
  for (const state of all.active.values()) if (state.used !== state.reserved) all.toWrite.add(state)
}
