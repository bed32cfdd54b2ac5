import { randomUUID } from 'node:crypto'
import { isStorageError, StorageError } from '../../errors/storageError.ts'
import { monotonicClock } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { getUtcDay } from '../../lib/utcDay.ts'
import type { UtcDay } from '../../lib/utcDay.ts'
import { createTimeBudget } from '../../lib/withTimeout.ts'
import type { Storage } from '../../storage/openStorage.ts'
import { createRateLimiter } from '../rateLimit/createRateLimiter.ts'
import type { RateLimiter } from '../rateLimit/createRateLimiter.ts'
import { createAccountDays, tooSlow } from './accountDays.ts'
import type { ReserveRequest } from './accountDays.ts'
import { createDegradedMode } from './createDegradedMode.ts'
import { toQuotaGrant, toQuotaUsage } from './quotaCounter.ts'
import {
  createReservation,
  getTarget,
  getUnwritten,
  giveBackReserved,
  isLimited,
  isRunningLow,
  leaveRow,
  setReserved,
  startDay,
  startWrite,
  takeReserved,
} from './reservation.ts'
import type { PastDay, Reservation } from './reservation.ts'
import { createReturns } from './createReturns.ts'
import { countRequested, takeRate } from './takeRate.ts'
import type { LimitsEvent, QuotaAccount, QuotaGrant, UsageLimits } from './usageLimits.ts'

/** Options of {@link createLocalLimits}. */
export interface LocalLimitsOptions {
  /** The storage of used quotas. @default none: a restart forgets them */
  readonly storage?: Pick<Storage, 'db' | 'write'> | undefined
  /** Decides on rates. @default a rate limiter of this process */
  readonly rates?: RateLimiter | undefined
  /** Units that may be granted to an account and day while PostgreSQL is unreachable. Not used with SQLite. @default 500 */
  readonly outageGrant?: number | undefined
  /** How long an account without a request keeps what was reserved for it, in milliseconds. @default 10_000 */
  readonly idleMs?: number | undefined
  /** How long a request waits for the database, in milliseconds. @default 2_000 */
  readonly patienceMs?: number | undefined
  /** Most requests that wait at once. @default 50_000 */
  readonly maxWaiting?: number | undefined
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
  /** Measures how long requests wait. @default a monotonic clock */
  readonly clock?: Clock | undefined
  readonly onEvent?: ((event: LimitsEvent) => void) | undefined
}

/** Rows written in one transaction. */
const maxRows = 250
/** How often the usage of accounts without a limit is written, in milliseconds. */
const countEveryMs = 2_000
/** How often more is reserved for accounts that run low, and the database is tried while it is unreachable, in milliseconds. */
const tickMs = 500
/** How long `close` waits for PostgreSQL, in milliseconds. */
const closeWithinMs = 3_000

interface Waiting {
  readonly request: QuotaRequest
  readonly since: number
  readonly resolve: (grant: QuotaGrant) => void
  readonly reject: (error: Error) => void
}

/** The part of a request that concerns the quota. */
interface QuotaRequest {
  readonly account: QuotaAccount
  readonly calls: number
  readonly weights: readonly number[] | undefined
}

interface AccountState extends Reservation {
  /** The row of this process. */
  run: string
  /** Has the limits of the last request. */
  account: QuotaAccount
  waiting: Waiting[]
  /** The last tick before the last request, by the monotonic clock. */
  usedAt: number
}

/** A day that ended with units that were reserved and not used, or used and not written. */
interface EndedDay extends PastDay {
  readonly account: string
  readonly run: string
}

/**
 * Creates the limits of a service that runs on one machine. Counters are in memory. What the storage says is always at least what was granted, so
 * a process that is killed never leads over a limit. It forfeits what was reserved ahead: 25 units of an account, and up to a hundredth of its limit under
 * load.
 * @example
 * const limits = createLocalLimits()
 * const account = { id: 'user:usr_1', perDay: 25_000, perMonth: null }
 * await limits.take({ id: 'key_1', rate: { perSecond: 25, burst: 50 }, account, calls: 1, passed: 1 })
 */
export const createLocalLimits = (options: LocalLimitsOptions = {}): UsageLimits => {
  const { storage, now = Date.now, patienceMs = 2_000, maxWaiting = 50_000, idleMs = 10_000 } = options
  const rows = storage && createAccountDays(storage)
  const rates = options.rates ?? createRateLimiter()
  const outageGrant = storage?.db.kind === 'postgres' ? (options.outageGrant ?? 500) : 0
  const clock = options.clock ?? monotonicClock()
  const states = new Map<string, AccountState>()
  const degraded = createDegradedMode(options.onEvent)
  const returns = createReturns()
  const toWrite = new Set<AccountState>()
  let ended: EndedDay[] = []
  let waitingRequests = 0
  let writing: Promise<void> | undefined
  /** When the last tick was: precise enough to know which accounts are idle. */
  let tickedAt = clock()
  let closed: Promise<void> | undefined

  /** The units used today by accounts whose state was dropped. Equal to their rows. */
  const parked = new Map<string, { readonly run: string; readonly used: number }>()

  let today = getUtcDay(now())
  const getToday = (): UtcDay => {
    const ms = now()
    if (ms >= today.endMs) {
      today = getUtcDay(ms)
      parked.clear()
    }
    return today
  }

  const startNewDay = (state: AccountState): void => {
    const past = startDay(state, getToday())
    if (past !== undefined && rows !== undefined) ended.push({ account: state.account.id, run: state.run, ...past })
  }

  const createState = (account: QuotaAccount): AccountState => {
    const day = getToday()
    const { run, used } = parked.get(account.id) ?? { run: randomUUID(), used: 0 }
    parked.delete(account.id)
    const state = { ...createReservation(day, used), run, account, waiting: [], usedAt: tickedAt }
    states.set(account.id, state)
    return state
  }

  const getState = (account: QuotaAccount): AccountState => {
    const state = states.get(account.id) ?? createState(account)
    startNewDay(state)
    // Without a storage, nothing has to be reserved.
    if (rows === undefined && state.reserved !== Infinity) {
      const otherMonth = state.counter.monthUsed - state.used
      setReserved(state, state.counter.day, { charged: Infinity, otherDay: 0, otherMonth }, Infinity)
    }
    state.account = account
    state.usedAt = tickedAt
    return state
  }

  const queueWrite = (state: AccountState): void => {
    if (rows === undefined) return
    toWrite.add(state)
    if (writing === undefined && !degraded.isOn()) writing = writeAll().finally(() => (writing = undefined))
  }

  /** Takes units without waiting. @returns `undefined` if the request has to wait. */
  const takeNow = (state: AccountState, request: QuotaRequest): QuotaGrant | undefined => {
    const { account, calls, weights } = request
    const spare = degraded.isOn() ? outageGrant : 0
    const free = state.reserved - state.used
    const taken = takeReserved(state, account, { calls, weights, now: clock(), spare })
    if (taken === 'wait') return undefined
    if (spare > 0) degraded.recordGrant(account.id, Math.max(0, taken.charged - Math.max(0, free)))
    // Written with others at the next tick.
    if (isRunningLow(state, account)) toWrite.add(state)
    return toQuotaGrant(state.counter, account, { calls, granted: taken.granted, charged: taken.charged })
  }

  const takeQuota = (request: QuotaRequest): QuotaGrant | Promise<QuotaGrant> => {
    if (closed !== undefined) return Promise.reject(closedError())
    const state = getState(request.account)
    // In order of arrival.
    const granted = state.waiting.length === 0 ? takeNow(state, request) : undefined
    if (granted !== undefined) return granted
    if (degraded.isOn() || waitingRequests >= maxWaiting) return Promise.reject(tooSlow())
    return new Promise((resolve, reject) => {
      waitingRequests += 1
      state.waiting.push({ request, since: clock(), resolve, reject })
      queueWrite(state)
    })
  }

  /** Grants what can be granted now. */
  const serve = (state: AccountState): void => {
    let served = 0
    for (const { request, resolve } of state.waiting) {
      const granted = takeNow(state, request)
      if (granted === undefined) break
      resolve(granted)
      served += 1
    }
    state.waiting.splice(0, served)
    waitingRequests -= served
    if (state.waiting.length > 0) toWrite.add(state)
  }

  const rejectWaiting = (
    state: AccountState,
    error: Error,
    isDue: (waiting: Waiting) => boolean = () => true,
  ): void => {
    const due = state.waiting.filter(isDue)
    state.waiting = state.waiting.filter((waiting) => !due.includes(waiting))
    waitingRequests -= due.length
    for (const { reject } of due) reject(error)
  }

  const toRequest = (state: AccountState): ReserveRequest => {
    startNewDay(state)
    const waiting = state.waiting.reduce((sum, { request }) => sum + request.calls * getHighest(request.weights), 0)
    const isIdle = waiting === 0 && clock() - state.usedAt >= idleMs
    const { perDay, perMonth, id: account } = state.account
    const { run } = state
    const target = isIdle || closed !== undefined ? state.used : getTarget(state, state.account, waiting)
    return { account, run, day: state.counter.day, atLeast: startWrite(state, target), target, perDay, perMonth }
  }

  /** A write that has failed may still come. If its day has ended since, what is left of the day goes to a new row, which it cannot overwrite. */
  const leaveEndedRow = (run: string, day: UtcDay): void => {
    const at = ended.findIndex((past) => past.run === run && past.day.day === day.day)
    const past = ended[at]
    if (past !== undefined) ended[at] = { ...past, run: randomUUID(), used: getUnwritten(past), reserved: 0 }
  }

  /** Writes up to `maxRows` rows. @throws {StorageError} */
  const writeSome = async (): Promise<void> => {
    const past = ended.slice(0, maxRows)
    const due = [...toWrite].slice(0, maxRows - past.length)
    for (const state of due) toWrite.delete(state)
    const requests = due.map(toRequest)
    const pastRequests = past.map(({ account, run, day, used }): ReserveRequest => ({
      account,
      run,
      day,
      atLeast: used,
      target: used,
      perDay: null,
      perMonth: null,
    }))
    try {
      const results = (await rows?.reserve([...pastRequests, ...requests])) ?? []
      ended = ended.slice(past.length)
      for (const [index, state] of due.entries()) {
        const row = results[past.length + index]
        const request = requests[index]
        if (row !== undefined && request !== undefined) setReserved(state, request.day, row, clock())
        serve(state)
      }
    } catch (error) {
      for (const { run, day } of requests) leaveEndedRow(run, day)
      for (const state of due) {
        leaveRow(state)
        state.run = randomUUID()
        if (state.waiting.length > 0 || state.used > 0) toWrite.add(state)
      }
      throw error
    }
  }

  const writeAll = async (): Promise<void> => {
    // Requests of the same turn share one transaction.
    await Promise.resolve()
    try {
      while (toWrite.size > 0 || ended.length > 0) await writeSome()
      degraded.leave()
    } catch (error) {
      handleFailure(error)
    }
  }

  const handleFailure = (error: unknown): void => {
    const isLost = outageGrant > 0 && isStorageError(error, 'unavailable') && closed === undefined
    if (isLost) degraded.enter()
    const reason = error instanceof StorageError ? error : new StorageError('the limits failed', { fault: 'failed' })
    for (const state of states.values()) {
      if (state.waiting.length === 0) continue
      if (isLost) serve(state)
      rejectWaiting(state, reason)
    }
  }

  /** Rejects requests that have waited too long, returns what idle accounts reserved, and drops their state. */
  const tick = (): void => {
    const time = clock()
    tickedAt = time
    for (const [id, state] of states) {
      if (state.waiting.length > 0) rejectWaiting(state, tooSlow(), ({ since }) => time - since >= patienceMs)
      startNewDay(state)
      if (state.isWriting) continue
      const isIdle = time - state.usedAt >= idleMs && state.waiting.length === 0
      const isWritten = rows === undefined || state.used === state.reserved
      const isDue = isIdle || (!isLimited(state.account) && time - state.readAt >= countEveryMs)
      if (!isWritten && isDue) toWrite.add(state)
      else if (isWritten && isIdle) {
        states.delete(id)
        parked.set(id, { run: state.run, used: state.used })
      }
    }
    if (rows !== undefined && (toWrite.size > 0 || ended.length > 0) && writing === undefined)
      writing = writeAll().finally(() => (writing = undefined))
  }
  const timer = setInterval(tick, Math.min(tickMs, idleMs / 4, patienceMs / 4))
  timer.unref()

  const finish = async (): Promise<void> => {
    clearInterval(timer)
    for (const state of states.values()) rejectWaiting(state, closedError())
    if (rows === undefined) return
    const inTime = createTimeBudget(storage?.db.kind === 'postgres' ? closeWithinMs : Infinity)
    await inTime(writing ?? Promise.resolve())
    for (const state of states.values()) if (state.used !== state.reserved) toWrite.add(state)
    const isWritten = await inTime(writeAll())
    if (isWritten && toWrite.size === 0 && ended.length === 0) return
    let units = 0
    for (const { used, reserved } of toWrite) units += Math.max(0, used - reserved)
    if (units > 0) degraded.report({ event: 'quotaLost', units })
  }

  return {
    take: (request) => {
      const { account, weights } = request
      const rate = takeRate(rates, request)
      const requested = countRequested(request, rate)
      if (account === undefined || requested === 0) return { granted: requested, rate, quota: undefined }
      const quota = takeQuota({ account, calls: requested, weights })
      if (quota instanceof Promise) return quota.then((later) => ({ granted: later.granted, rate, quota: later }))
      return { granted: quota.granted, rate, quota }
    },
    giveBack: (grant, units) => {
      if (closed !== undefined) return
      const state = states.get(grant.account.id) ?? createState(grant.account)
      startNewDay(state)
      const returned = returns.take(grant, units)
      if (returned > 0 && state.counter.day.text === grant.day) giveBackReserved(state, returned)
    },
    peek: (id, rate) => rates.peek(id, rate),
    usage: async (account) => {
      const day = getToday()
      const state = states.get(account.id)
      if (state !== undefined) startNewDay(state)
      if (rows === undefined || (state !== undefined && degraded.isOn()))
        return toQuotaUsage(state?.counter ?? createReservation(day).counter, account)
      const sums = (await rows.read([account.id], day)).get(account.id) ?? { day: 0, month: 0 }
      const ahead = state === undefined ? 0 : state.reserved - state.used
      return toQuotaUsage({ day, dayUsed: sums.day - ahead, monthUsed: sums.month - ahead }, account)
    },
    close: () => (closed ??= finish()),
  }
}

const closedError = (): StorageError => new StorageError('the limits are closed', { fault: 'unavailable' })

const getHighest = (weights: readonly number[] | undefined): number =>
  weights === undefined ? 1 : Math.max(1, ...weights)
