import { isStorageError, StorageError } from '../../errors/storageError.ts'
import { monotonicClock } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { createTimeBudget } from '../../lib/withTimeout.ts'
import type { Storage } from '../../storage/openStorage.ts'
import { createRateLimiter } from '../rateLimit/createRateLimiter.ts'
import type { RateLimiter } from '../rateLimit/createRateLimiter.ts'
import { createAccountDays } from './accountDays.ts'
import type { AccountDays } from './accountDays.ts'
import { createDegradedMode } from './createDegradedMode.ts'
import type { DegradedMode } from './createDegradedMode.ts'
import { createReturns } from './createReturns.ts'
import { limitsClosed, tooSlow } from './limitsErrors.ts'
import {
  completeRows,
  createLocalQuotas,
  failRows,
  getQuota,
  isAnyToWrite,
  returnAll,
  startRows,
  startToday,
  tickQuotas,
  updateToday,
  useQuota,
} from './localQuotas.ts'
import type { LocalQuota, LocalQuotas } from './localQuotas.ts'
import { createCounter, getCost, toQuotaGrant, toQuotaUsage } from './quotaCounter.ts'
import { grantReserved, isRunningLow, returnReserved } from './reservation.ts'
import { takeRateThenQuota } from './takeRateThenQuota.ts'
import type { LimitsEvent, Quota, QuotaGrant, QuotaUsage, UsageLimits } from './usageLimits.ts'
import {
  addWaiter,
  createWaitingRoom,
  getWaiting,
  hasRoom,
  isAnyWaiting,
  listImpatient,
  removeAllWaiters,
  removeWaiter,
} from './waitingRoom.ts'
import type { Waiter, WaitingRoom } from './waitingRoom.ts'

/** Options of {@link createLocalLimits}. */
export interface LocalLimitsOptions {
  /** The storage of used quotas. @default none: a restart forgets them */
  readonly storage?: Pick<Storage, 'db' | 'write'> | undefined
  /** Decides on rates. @default a rate limiter of this process */
  readonly rates?: RateLimiter | undefined
  /** Units that may be granted to a quota and day while PostgreSQL is unreachable. Not used with SQLite. @default 500 */
  readonly outageGrant?: number | undefined
  /** With 0, nothing is reserved in advance: for callers that take many units at once. @default 25, and more if requests have to wait */
  readonly inAdvance?: 0 | undefined
  /** How long a quota without a request keeps what was reserved for it, in milliseconds. @default 10_000 */
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

/** How often more is reserved for quotas that run low, and the database is tried while it is unreachable, in milliseconds. */
const tickMs = 500
/** How long `close` waits for PostgreSQL, in milliseconds. */
const closeWithinMs = 3_000

/** The part of a request that concerns the quota. */
interface QuotaRequest {
  readonly quota: Quota
  readonly calls: number
  readonly weights: readonly number[] | undefined
}

/** A request that waits until more is reserved for its quota. */
interface LocalWaiter extends Waiter<QuotaRequest, QuotaGrant> {
  readonly state: LocalQuota
}

/** What the functions of this file share. */
interface LocalLimits {
  readonly rows: AccountDays | undefined
  readonly now: () => number
  readonly clock: Clock
  /** 0 with SQLite. */
  readonly outageGrant: number
  readonly all: LocalQuotas
  readonly room: WaitingRoom<LocalQuota, LocalWaiter>
  readonly degraded: DegradedMode
  /** The transactions in flight, and those that follow. */
  writing: Promise<void> | undefined
  isClosed: boolean
}

/**
 * Creates the limits of a service that runs on one machine. Counters are in memory. What the storage says is always at least what was granted, so
 * a process that is killed never leads over a limit. It forfeits what was reserved in advance: 25 units of a quota, and up to a hundredth of its limit
 * under load.
 * @example
 * const limits = createLocalLimits()
 * const quota = { id: 'user:usr_1', perDay: 25_000, perMonth: null }
 * await limits.take({ id: 'key_1', rate: { perSecond: 25, burst: 50 }, quota, calls: 1, passed: 1 })
 */
export const createLocalLimits = (options: LocalLimitsOptions = {}): UsageLimits => {
  const { storage, now = Date.now, patienceMs = 2_000, maxWaiting = 50_000, idleMs = 10_000 } = options
  const isPostgres = storage?.db.kind === 'postgres'
  const rates = options.rates ?? createRateLimiter()
  const returns = createReturns()
  const clock = options.clock ?? monotonicClock()
  const local: LocalLimits = {
    rows: storage && createAccountDays(storage),
    now,
    clock,
    outageGrant: isPostgres ? (options.outageGrant ?? 500) : 0,
    all: createLocalQuotas({
      hasRows: storage !== undefined,
      inAdvance: options.inAdvance,
      idleMs,
      tickedAt: clock(),
      ms: now(),
    }),
    room: createWaitingRoom({ maxWaiting, patienceMs }),
    degraded: createDegradedMode(options.onEvent),
    writing: undefined,
    isClosed: false,
  }
  const timer = setInterval(() => tick(local), Math.min(tickMs, idleMs / 4, patienceMs / 4))
  timer.unref()
  let closed: Promise<void> | undefined

  return {
    take: (request) =>
      takeRateThenQuota(rates, request, (quota, calls) => takeQuota(local, { quota, calls, weights: request.weights })),
    giveBack: (grant, units) => {
      if (local.isClosed) return 0
      updateToday(local.all, now())
      const state = getQuota(local.all, grant.quota)
      if (state.counter.day.text !== grant.day) return 0
      const returned = returns.take(grant, units)
      if (returned > 0) returnReserved(state, returned)
      return returned
    },
    peek: (id, rate) => rates.peek(id, rate),
    usage: (quota) => readUsage(local, quota),
    close: () => {
      clearInterval(timer)
      closed ??= close(local, isPostgres ? closeWithinMs : Infinity)
      return closed
    },
  }
}

/** Grants units without waiting. @returns `undefined` if the request has to wait. */
const grantNow = (local: LocalLimits, state: LocalQuota, request: QuotaRequest): QuotaGrant | undefined => {
  const { degraded, clock } = local
  const { quota, calls, weights } = request
  const outageGrant = degraded.isOn() ? local.outageGrant : 0
  const free = state.reserved - state.used
  const granted = grantReserved(state, quota, { calls, weights, now: clock(), outageGrant })
  if (granted === 'wait') return undefined
  if (outageGrant > 0) degraded.recordGrant(quota.id, Math.max(0, granted.charged - Math.max(0, free)))
  // Written with others at the next tick.
  if (isRunningLow(state, quota)) local.all.toWrite.add(state)
  return toQuotaGrant(state.counter, quota, { calls, ...granted })
}

const takeQuota = (local: LocalLimits, request: QuotaRequest): QuotaGrant | Promise<QuotaGrant> => {
  const { all, room, degraded } = local
  if (local.isClosed) return Promise.reject(limitsClosed())
  updateToday(all, local.now())
  const state = useQuota(all, request.quota)
  // In order of arrival.
  const granted = isAnyWaiting(room, state) ? undefined : grantNow(local, state, request)
  if (granted !== undefined) return granted
  if (degraded.isOn() || !hasRoom(room)) return Promise.reject(tooSlow())
  return new Promise((resolve, reject) => {
    addWaiter(room, state, { request, state, since: local.clock(), resolve, reject })
    if (local.rows === undefined) return
    all.toWrite.add(state)
    if (!degraded.isOn()) startWriting(local)
  })
}

/** Grants the requests of a quota what can be granted now. */
const serve = (local: LocalLimits, state: LocalQuota): void => {
  const { room, all } = local
  for (const waiter of getWaiting(room, state)) {
    const granted = grantNow(local, state, waiter.request)
    if (granted === undefined) break
    removeWaiter(room, state, waiter)
    waiter.resolve(granted)
  }
  if (isAnyWaiting(room, state)) all.toWrite.add(state)
}

/** Counts the units that the requests of a quota wait for. */
const getWaitingUnits = (local: LocalLimits, state: LocalQuota): number => {
  let units = 0
  for (const { request } of getWaiting(local.room, state)) units += getCost(request.calls, request.weights)
  return units
}

const startWriting = (local: LocalLimits): void => {
  local.writing ??= writeAll(local).finally(() => (local.writing = undefined))
}

const writeAll = async (local: LocalLimits): Promise<void> => {
  // Requests of the same turn share one transaction.
  await Promise.resolve()
  try {
    while (isAnyToWrite(local.all)) await writeSome(local)
    local.degraded.leave()
  } catch (error) {
    handleFailure(local, error)
  }
}

/** Writes one transaction of rows. @throws {StorageError} */
const writeSome = async (local: LocalLimits): Promise<void> => {
  const { all, clock, room, rows, isClosed } = local
  updateToday(all, local.now())
  const write = startRows(all, {
    now: clock(),
    getWaitingUnits: (state) => getWaitingUnits(local, state),
    isClosing: isClosed,
  })
  try {
    completeRows(all, write, (await rows?.reserve(write.requests)) ?? [], clock())
  } catch (error) {
    failRows(all, write, (state) => isAnyWaiting(room, state))
    throw error
  }
  for (const state of write.due) serve(local, state)
}

/** Decides without the database on the requests that wait. */
const handleFailure = (local: LocalLimits, error: unknown): void => {
  const { room, degraded } = local
  const isLost = local.outageGrant > 0 && isStorageError(error, 'unavailable') && !local.isClosed
  if (isLost) degraded.enter()
  const reason = error instanceof StorageError ? error : new StorageError('the limits failed', { fault: 'failed' })
  for (const state of room.groups.keys()) {
    if (isLost) serve(local, state)
    for (const { reject } of removeAllWaiters(room, state)) reject(reason)
  }
}

const tick = (local: LocalLimits): void => {
  const { all, room, clock } = local
  const time = clock()
  for (const waiter of listImpatient(room, time)) {
    removeWaiter(room, waiter.state, waiter)
    waiter.reject(tooSlow())
  }
  updateToday(all, local.now())
  tickQuotas(all, time, (state) => isAnyWaiting(room, state))
  if (all.hasRows && isAnyToWrite(all)) startWriting(local)
}

const readUsage = async (local: LocalLimits, quota: Quota): Promise<QuotaUsage> => {
  const { all, rows, degraded } = local
  const day = updateToday(all, local.now())
  const state = all.active.get(quota.id)
  if (state !== undefined) startToday(all, state)
  if (rows === undefined || (state !== undefined && degraded.isOn()))
    return toQuotaUsage(state?.counter ?? createCounter(day.day, 0, 0), quota)
  const sums = (await rows.read([quota.id], day)).get(quota.id) ?? { day: 0, month: 0 }
  const unused = state === undefined ? 0 : state.reserved - state.used
  return toQuotaUsage({ day, dayUsed: sums.day - unused, monthUsed: sums.month - unused }, quota)
}

/** Rejects the requests that wait, and writes what was used. */
const close = async (local: LocalLimits, withinMs: number): Promise<void> => {
  const { all, room, degraded } = local
  local.isClosed = true
  for (const { reject } of removeAllWaiters(room)) reject(limitsClosed())
  if (!all.hasRows) return
  const inTime = createTimeBudget(withinMs)
  await inTime(local.writing ?? Promise.resolve())
  returnAll(all)
  const isWritten = await inTime(writeAll(local))
  if (isWritten && !isAnyToWrite(all)) return
  let units = 0
  for (const { used, reserved } of all.toWrite) units += Math.max(0, used - reserved)
  if (units > 0) degraded.report({ event: 'quotaLost', units })
}
