import { randomUUID } from 'node:crypto'
import { StorageError } from '../../errors/storageError.ts'
import { createTimeBudget } from '../../lib/withTimeout.ts'
import { bootId } from './bootId.ts'
import type { Quota, QuotaAccount, QuotaGrant } from './quota.ts'
import { getUtcDay, toUtcDay } from '../../lib/utcDay.ts'
import type { UtcDay } from '../../lib/utcDay.ts'
import { createDegradedMode } from './createDegradedMode.ts'
import { createReservationQueue } from './createReservationQueue.ts'
import { createSettlements } from './createSettlements.ts'
import type { QuotaEvent } from './quotaEvent.ts'
import { createQuotaRows } from './quotaRows.ts'
import type { QuotaStorage, Reservation, Reserved } from './quotaRows.ts'
import { startDay, toGrant, getLeftToday, createState } from './quotaState.ts'
import type { QuotaState } from './quotaState.ts'

/** Options of `createQuota`. */
export interface QuotaOptions {
  readonly storage: QuotaStorage
  /** Calls reserved at once, so also what a crash may cost an account. @default a thousandth of its limit, from 25 to 250 */
  readonly blockSize?: number | undefined
  /** Calls that may be granted to an account while PostgreSQL is unreachable. Not used with SQLite. @default 500 */
  readonly outageGrant?: number | undefined
  /** How long without a request until reserved calls are returned, in milliseconds. @default 1000 with PostgreSQL, 10,000 with SQLite */
  readonly idleMs?: number | undefined
  /** How long a reservation may take in PostgreSQL before degraded mode starts, in milliseconds. @default 1000 */
  readonly patienceMs?: number | undefined
  /** Requests of one account that may wait for a reservation. @default 50,000 */
  readonly maxWaiting?: number | undefined
  /** The id of the current boot. @default the system's */
  readonly bootId?: string | undefined
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
  readonly onEvent?: ((event: QuotaEvent) => void) | undefined
}

/** Accounts with larger limits reserve more at once: a crash costs them the same share, and they need fewer reservations. */
const [minBlock, maxBlock] = [25, 250]
/** How often the usage of accounts without a limit is written. */
const countEveryMs = 2_000
/** Rows written in one transaction. */
const maxRows = 250
/** How long an account is assumed to stay used up. */
const usedUpMs = 1_000
/** How often a reservation is retried in the grace period. */
const graceRetryMs = 150

/**
 * Creates a quota. Calls are reserved in blocks by one conditional update, committed before the first call of a block is granted. Reserved calls
 * of a process that dies stay used. Instances coordinate through the database alone.
 */
export const createQuota = (options: QuotaOptions): Quota => {
  const { db } = options.storage
  const clustered = db.kind === 'postgres'
  const getBlockSize = ({ perDay, perMonth }: QuotaAccount): number =>
    options.blockSize ??
    Math.min(maxBlock, Math.max(minBlock, Math.floor(Math.min(perDay ?? Infinity, perMonth ?? Infinity) / 1_000)))
  const outageGrant = clustered ? (options.outageGrant ?? 500) : 0
  const idleMs = options.idleMs ?? (clustered ? 1_000 : 10_000)
  const patienceMs = options.patienceMs ?? 1_000
  const maxWaiting = options.maxWaiting ?? 50_000
  const now = options.now ?? Date.now
  const tickMs = Math.min(250, idleMs / 4)
  const idleTicks = Math.ceil(idleMs / tickMs)
  const countEveryTicks = Math.ceil(countEveryMs / tickMs)
  /** Other instances return idle blocks after `idleMs`, plus up to a quarter of it for their timer. */
  const graceMs = clustered ? idleMs * 1.5 : 0

  const rows = createQuotaRows(options.storage)
  const run = randomUUID()
  let started: Promise<void> | undefined
  /** SQLite only: runs before the first reservation. */
  const start = (): Promise<void> =>
    (started ??= rows.start(run, options.bootId ?? bootId()).catch((error: unknown) => {
      started = undefined
      throw error
    }))
  const states = new Map<string, QuotaState>()
  const returned = new WeakMap<QuotaGrant, number>()
  const settlements = createSettlements(rows)
  let closed: Promise<void> | undefined

  let today: UtcDay = getUtcDay(now())
  const dayAt = (ms: number): UtcDay => {
    if (ms >= today.endMs) today = getUtcDay(ms)
    return today
  }

  const report = (event: QuotaEvent): void => {
    try {
      options.onEvent?.(event)
    } catch {
      // A listener that throws must not stop the quota.
    }
  }
  const degraded = createDegradedMode(report)
  const enterDegradedMode = (): void => {
    if (!clustered || !degraded.enter()) return
    for (const state of states.values()) {
      state.reserving = false
      state.graceUntil = 0
      serve(state)
    }
    queue.abandon()
  }

  /** Returns reserved calls of a past day to its month, and adds calls granted without its row. */
  const endDay = (state: QuotaState): void => {
    const { id: account, day, block, overage, spare } = state
    if (block > 0) settlements.add({ account, day: day.day, month: day.month, unused: block, spare })
    if (overage > 0) settlements.add({ account, day: day.day, month: day.month, unused: -overage, spare: 0 })
  }

  const getState = (account: QuotaAccount): QuotaState => {
    const day = dayAt(now())
    let state = states.get(account.id)
    if (state === undefined) {
      state = createState(account, day)
      states.set(account.id, state)
    } else if (day.day > state.day.day) {
      endDay(state)
      startDay(state, day.day)
    }
    state.account = account
    state.touched = true
    return state
  }

  const countWaiting = ({ waiting }: QuotaState): number => waiting.reduce((sum, { calls }) => sum + calls, 0)

  const toReservation = (state: QuotaState, calls: number): Reservation => {
    const { id: account, day, block, spare: settled, overage, row } = state
    const { perDay, perMonth } = state.account
    const need = Math.max(0, calls - block)
    const extra = need === 0 ? 0 : Math.max(0, getBlockSize(state.account) - need)
    // Usually the write need not wait for the disk, because the disk covers more than is used.
    const full = clustered || row === undefined || row.dayUsed + overage + need + extra > row.sure
    return { account, day: day.day, month: day.month, need, extra, settled, overage, perDay, perMonth, full }
  }

  /** Reserves synchronously if possible. @returns The calls in the block afterwards. */
  const reserveNow = (state: QuotaState, calls: number): number => {
    if (clustered || state.reserving || settlements.isPending(state.id)) return state.block
    const reservation = toReservation(state, calls)
    const row = reservation.full ? undefined : rows.reserveNow(reservation)
    if (row !== undefined) handleReserved(state, reservation, row)
    return state.block
  }

  /** Takes calls without a query. @returns How many are granted; `undefined` if the row must be read. */
  const takeLocally = (state: QuotaState, calls: number): number | undefined => {
    const { perDay, perMonth } = state.account
    if (state.block >= calls) {
      state.block -= calls
      return calls
    }
    if (perDay === null && perMonth === null) {
      // No limit: the calls are counted now and written later.
      state.overage += calls
      return calls
    }
    if (degraded.isOn()) return takeDegraded(state, calls)
    if (performance.now() < state.usedUpUntil && getLeftToday(state) <= 0) {
      const granted = state.block
      state.block = 0
      return granted
    }
    const reserved = reserveNow(state, calls)
    if (reserved < calls) return undefined
    state.block -= calls
    return calls
  }

  /** Takes calls while the database is unreachable. */
  const takeDegraded = (state: QuotaState, calls: number): number | undefined => {
    const left = getLeftToday(state)
    const available = Math.min(outageGrant - state.overage, left)
    const missing = calls - state.block
    if (missing <= available) {
      state.block = 0
      state.overage += missing
      degraded.recordGrant(state.id, missing)
      return calls
    }
    if (left >= missing) return undefined
    // The known usage already exceeds the limit.
    const granted = state.block + Math.max(0, available)
    state.overage += Math.max(0, available)
    if (available > 0) degraded.recordGrant(state.id, available)
    state.block = 0
    return granted
  }

  /** Grants waiting requests, in order, as far as the block lasts. */
  const serve = (state: QuotaState): void => {
    let served = 0
    for (const { account, calls, resolve } of state.waiting) {
      if (state.block < calls) break
      state.block -= calls
      served += 1
      resolve(toGrant(state, account, calls, calls))
    }
    state.waiting.splice(0, served)
    if (!degraded.isOn()) return
    for (const waiting of state.waiting.splice(0)) {
      const granted = takeDegraded(state, waiting.calls)
      if (granted === undefined)
        waiting.reject(new StorageError('the database is unreachable', { fault: 'unavailable' }))
      else waiting.resolve(toGrant(state, waiting.account, waiting.calls, granted))
    }
  }

  /** Rejects waiting requests, except for the calls that are left. */
  const reject = (state: QuotaState): void => {
    state.graceUntil = 0
    for (const { account, calls, resolve } of state.waiting.splice(0)) {
      const granted = Math.min(state.block, calls)
      state.block -= granted
      resolve(toGrant(state, account, calls, granted))
    }
  }

  /** Whether other instances may soon return what the waiting requests need. */
  const isInGracePeriod = (state: QuotaState, row: Reserved): boolean => {
    if (graceMs === 0 || row.spare - state.spare <= state.deadSpare) return false
    const time = performance.now()
    if (state.graceUntil === 0) state.graceUntil = time + graceMs
    if (time < state.graceUntil) return true
    state.deadSpare = row.spare - state.spare
    return false
  }

  const handleReserved = (
    state: QuotaState,
    { need, overage }: { need: number; overage: number },
    row: Reserved,
  ): void => {
    state.overage -= Math.min(overage, state.overage)
    if (row.day < state.day.day) {
      // The day changed during the query.
      const { day, month } = toUtcDay(row.day)
      const spare = Math.max(0, row.granted - need)
      if (row.granted > 0) settlements.add({ account: state.id, day, month, unused: row.granted, spare })
      if (state.waiting.length > 0) reserve(state)
      return
    }
    if (row.day > state.day.day) {
      // An instance whose clock is ahead has started the next day.
      endDay(state)
      startDay(state, row.day)
    }
    state.row = row
    state.block += row.granted
    state.spare = Math.max(0, row.granted - need)
    // Calls granted during the query use the block first.
    const cover = Math.min(state.block, state.overage)
    state.block -= cover
    state.overage -= cover
    serve(state)
    if (state.waiting.length === 0) {
      state.graceUntil = 0
      return
    }
    // Other processes on this file have used what the disk covered.
    if (row.granted >= need || getLeftToday(state) > 0) reserve(state)
    else if (isInGracePeriod(state, row)) setTimeout(() => reserve(state), graceRetryMs)
    else {
      state.usedUpUntil = performance.now() + usedUpMs
      reject(state)
    }
  }

  /** Handles an abandoned query that has reserved calls nevertheless: they belong to this instance. */
  const handleLateReserved = (state: QuotaState, { need, overage }: Reservation, row: Reserved): void => {
    if (row.day !== state.day.day || states.get(state.id) !== state || closed !== undefined) {
      const { day, month } = toUtcDay(row.day)
      settlements.add({ account: state.id, day, month, unused: row.granted, spare: Math.max(0, row.granted - need) })
      return
    }
    const cover = Math.min(row.granted, Math.max(0, state.overage - overage))
    state.overage -= Math.min(state.overage, overage + cover)
    state.block += row.granted - cover
    state.spare += Math.max(0, row.granted - need)
    serve(state)
  }

  const failed = (state: QuotaState, error: StorageError): void => {
    // It may have been written. In that case the reserved calls stay used.
    state.spare = 0
    if (clustered && error.fault !== 'failed' && closed === undefined) {
      enterDegradedMode()
      if (degraded.isOn()) serve(state)
      return
    }
    for (const { reject } of state.waiting.splice(0)) reject(error)
  }

  /** Runs work, with SQLite after `start`. */
  const afterStart = async (
    work: () => Promise<readonly (Reserved | StorageError)[]>,
    count: number,
  ): Promise<readonly (Reserved | StorageError)[]> => {
    try {
      if (!clustered) await start()
    } catch (error) {
      if (error instanceof StorageError) return Array.from({ length: count }, () => error)
      throw error
    }
    return work()
  }

  const reserveBatch = async (batch: readonly QuotaState[], isAbandoned: () => boolean): Promise<void> => {
    // Write pending corrections first, so that no call is rejected for what is about to be returned.
    if (batch.some(({ id }) => settlements.isPending(id))) await settlements.write()
    const reservations = batch.map((state) => toReservation(state, countWaiting(state)))
    const results = await afterStart(() => rows.reserve(reservations), batch.length)
    for (const [index, state] of batch.entries()) {
      const [result, reservation] = [results[index], reservations[index]]
      if (result === undefined || reservation === undefined) continue
      if (isAbandoned()) {
        if (!(result instanceof StorageError)) handleLateReserved(state, reservation, result)
        continue
      }
      state.reserving = false
      if (result instanceof StorageError) failed(state, result)
      else handleReserved(state, reservation, result)
    }
  }

  /** With SQLite one transaction for all queued accounts; with PostgreSQL one per account, so that none waits for another's row. */
  const queue = createReservationQueue({
    ...(clustered ? { batchSize: 1, concurrency: 6 } : { batchSize: maxRows, concurrency: 1 }),
    reserve: reserveBatch,
  })

  const reserve = (state: QuotaState): void => {
    if (state.reserving || degraded.isOn()) return
    state.reserving = true
    state.reservingSince = performance.now()
    queue.push(state)
  }

  const returnIdle = (state: QuotaState): void => {
    const { id: account, day, block, spare } = state
    if (block > 0 || spare > 0) settlements.add({ account, day: day.day, month: day.month, unused: block, spare })
    if (state.row !== undefined)
      state.row = { ...state.row, dayUsed: state.row.dayUsed - block, monthUsed: state.row.monthUsed - block }
    state.block = 0
    state.spare = 0
  }

  const writeOverage = (state: QuotaState): void => {
    const { id: account, day, overage } = state
    if (overage > 0) settlements.add({ account, day: day.day, month: day.month, unused: -overage, spare: 0 })
    if (state.row !== undefined)
      state.row = { ...state.row, dayUsed: state.row.dayUsed + overage, monthUsed: state.row.monthUsed + overage }
    state.overage = 0
  }

  /** Checks whether the database is reachable again. */
  const probe = async (): Promise<void> => {
    try {
      await rows.find('')
      degraded.leave()
    } catch {
      // Still unreachable.
    }
  }

  let ticks = 0
  let ticking: Promise<void> | undefined
  const tick = async (): Promise<void> => {
    ticks += 1
    if (degraded.isOn()) {
      // Calls granted without the row stay in memory until they can be written, because they count against outageGrant.
      await probe()
      if (degraded.isOn()) return
    }
    for (const state of states.values()) {
      state.idleTicks = state.touched ? 0 : state.idleTicks + 1
      state.touched = false
      const idle = state.idleTicks >= idleTicks
      if (state.waiting.length > 0 || state.reserving) continue
      if (idle) returnIdle(state)
      const { perDay, perMonth } = state.account
      // With a limit, a reservation writes the overage, so that no concurrent reservation can miss it.
      if (state.overage > 0 && (perDay !== null || perMonth !== null)) reserve(state)
      else {
        if (idle || ticks % countEveryTicks === 0) writeOverage(state)
        if (idle) states.delete(state.id)
      }
    }
    if (settlements.hasPending()) await settlements.write()
  }
  const timer = setInterval(() => {
    ticking ??= tick().finally(() => (ticking = undefined))
    if (clustered && !degraded.isOn() && queue.isBusy()) {
      const time = performance.now()
      for (const { reserving, reservingSince } of states.values())
        if (reserving && time - reservingSince > patienceMs) return enterDegradedMode()
    }
  }, tickMs)
  timer.unref()

  const finish = async (): Promise<void> => {
    clearInterval(timer)
    // A database that does not respond must not prevent the process from exiting.
    const inTime = createTimeBudget(clustered ? patienceMs * 2 : Infinity)
    await inTime(Promise.all([ticking, queue.drain()]))
    for (const state of states.values()) {
      if (!degraded.isOn()) reject(state)
      else serve(state)
      returnIdle(state)
      writeOverage(state)
    }
    states.clear()
    const before = settlements.unwritten()
    const lost = (await inTime(settlements.write())) ? settlements.unwritten() : before
    if (lost > 0) report({ event: 'quotaLost', calls: lost })
    if (started !== undefined) await rows.stop(run).catch(() => {})
  }

  return {
    take: (account, calls) => {
      if (closed !== undefined) return Promise.reject(new StorageError('the quota is closed', { fault: 'unavailable' }))
      const state = getState(account)
      if (state.waiting.length === 0) {
        const granted = takeLocally(state, calls)
        if (granted !== undefined) return toGrant(state, account, calls, granted)
        if (degraded.isOn())
          return Promise.reject(new StorageError('the database is unreachable', { fault: 'unavailable' }))
      } else if (state.waiting.length >= maxWaiting)
        return Promise.reject(new StorageError('too many requests wait for a quota reservation', { fault: 'busy' }))
      return new Promise((resolve, reject) => {
        state.waiting.push({ account, calls, resolve, reject })
        if (state.graceUntil === 0) reserve(state)
      })
    },
    giveBack: (grant, calls) => {
      const before = returned.get(grant) ?? 0
      const back = Math.min(calls, grant.granted - before)
      if (back <= 0 || closed !== undefined) return
      returned.set(grant, before + back)
      const state = getState(grant.account)
      if (state.day.text !== grant.day) return
      const unwritten = Math.min(back, state.overage)
      state.overage -= unwritten
      state.block += back - unwritten
      if (state.waiting.length > 0) serve(state)
      // Hold at most one block, because a crash loses it.
      const excess = state.block - getBlockSize(state.account)
      if (excess <= 0) return
      state.block -= excess
      if (state.row !== undefined)
        state.row = { ...state.row, dayUsed: state.row.dayUsed - excess, monthUsed: state.row.monthUsed - excess }
      const { day, month } = state.day
      settlements.add({ account: state.id, day, month, unused: excess, spare: 0 })
      void settlements.write()
    },
    usage: async (account) => {
      const { day, month, endMs, monthEndMs } = dayAt(now())
      if (settlements.isPending(account.id)) await settlements.write()
      const row = await rows.find(account.id)
      const state = states.get(account.id)
      const held = state === undefined ? 0 : state.overage - state.block
      const heldToday = state?.day.day === day ? held : 0
      const heldThisMonth = state?.day.month === month ? held : 0
      const used = (of: number, own: number): number => Math.max(0, of + own)
      return {
        day: {
          used: used(row !== undefined && row.day >= day ? row.dayUsed : 0, heldToday),
          limit: account.perDay,
          resetAtMs: endMs,
        },
        month: {
          used: used(row !== undefined && row.month >= month ? row.monthUsed : 0, heldThisMonth),
          limit: account.perMonth,
          resetAtMs: monthEndMs,
        },
      }
    },
    close: () => (closed ??= finish()),
  }
}
