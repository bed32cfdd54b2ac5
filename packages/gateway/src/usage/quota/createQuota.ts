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
import { beginDay, grantOf, leftToday, openState } from './quotaState.ts'
import type { QuotaState } from './quotaState.ts'

/** What a quota is made of. */
export interface QuotaOptions {
  readonly storage: QuotaStorage
  /** Items reserved at once, so also what a crash may cost an account. @default a thousandth of its limit, from 25 to 250 */
  readonly blockItems?: number | undefined
  /** Items that may be granted to an account while PostgreSQL is gone. Without effect in SQLite. @default 500 */
  readonly outageGrant?: number | undefined
  /** After how long without a request what is reserved goes back, in milliseconds. @default 1000 in PostgreSQL, 10,000 in SQLite */
  readonly idleMs?: number | undefined
  /** How long PostgreSQL may take for a reservation before it counts as gone, in milliseconds. @default 1000 */
  readonly patienceMs?: number | undefined
  /** Requests of one account that may wait for a reservation. @default 50,000 */
  readonly maxWaiting?: number | undefined
  /** Names this run of the machine. @default asked of the system */
  readonly bootId?: string | undefined
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
  readonly onEvent?: ((event: QuotaEvent) => void) | undefined
}

/** Of who may ask much, more is reserved at once: what a crash may cost is as small a share, and each reservation costs time. */
const [leastBlock, mostBlock] = [25, 250]
/** How often what has no limit is written. */
const countEveryMs = 2_000
/** Rows written in one transaction. */
const maxRows = 250
/** How long an account that is used up is believed to be so. */
const emptyMs = 1_000
/** How often one that waits for what others hold asks again. */
const lingerEveryMs = 150

/**
 * Makes a quota over the storage. Items are reserved in blocks by one conditional update, committed before the first of a block is used; what a
 * process dies with stays used. Instances on one database need no other way to agree.
 */
export const createQuota = (options: QuotaOptions): Quota => {
  const { db } = options.storage
  const clustered = db.kind === 'postgres'
  const blockOf = ({ perDay, perMonth }: QuotaAccount): number =>
    options.blockItems ??
    Math.min(mostBlock, Math.max(leastBlock, Math.floor(Math.min(perDay ?? Infinity, perMonth ?? Infinity) / 1_000)))
  const outageGrant = clustered ? (options.outageGrant ?? 500) : 0
  const idleMs = options.idleMs ?? (clustered ? 1_000 : 10_000)
  const patienceMs = options.patienceMs ?? 1_000
  const maxWaiting = options.maxWaiting ?? 50_000
  const now = options.now ?? Date.now
  const tickMs = Math.min(250, idleMs / 4)
  const idleTicks = Math.ceil(idleMs / tickMs)
  const countEveryTicks = Math.ceil(countEveryMs / tickMs)
  /** Others give back after `idleMs`, and a quarter of it until they see that. */
  const lingerMs = clustered ? idleMs * 1.5 : 0

  const rows = createQuotaRows(options.storage)
  const run = randomUUID()
  let begun: Promise<void> | undefined
  /** In SQLite, before the first reservation. */
  const begin = (): Promise<void> =>
    (begun ??= rows.begin(run, options.bootId ?? bootId()).catch((error: unknown) => {
      begun = undefined
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

  const tell = (event: QuotaEvent): void => {
    try {
      options.onEvent?.(event)
    } catch {
      // Who listens must not stop who counts.
    }
  }
  const outage = createDegradedMode(tell)
  const beginOutage = (): void => {
    if (!clustered || !outage.begin()) return
    for (const state of states.values()) {
      state.reserving = false
      state.lingerUntil = 0
      serve(state)
    }
    asking.giveUp()
  }

  /** What is held of a day that is over goes back to its month, and what was granted without its row is added. */
  const endDay = (state: QuotaState): void => {
    const { id: account, day, block, debt, spare } = state
    if (block > 0) settlements.add({ account, day: day.day, month: day.month, unused: block, spare })
    if (debt > 0) settlements.add({ account, day: day.day, month: day.month, unused: -debt, spare: 0 })
  }

  const stateOf = (account: QuotaAccount): QuotaState => {
    const day = dayAt(now())
    let state = states.get(account.id)
    if (state === undefined) {
      state = openState(account, day)
      states.set(account.id, state)
    } else if (day.day > state.day.day) {
      endDay(state)
      beginDay(state, day.day)
    }
    state.account = account
    state.touched = true
    return state
  }

  const waitingItems = ({ waiting }: QuotaState): number => waiting.reduce((sum, { items }) => sum + items, 0)

  const reservationOf = (state: QuotaState, items: number): Reservation => {
    const { id: account, day, block, spare: settled, debt, row } = state
    const { perDay, perMonth } = state.account
    const need = Math.max(0, items - block)
    const extra = need === 0 ? 0 : Math.max(0, blockOf(state.account) - need)
    // Mostly the disk need not be waited for, as it is sure of more than is used.
    const full = clustered || row === undefined || row.dayUsed + debt + need + extra > row.sure
    return { account, day: day.day, month: day.month, need, extra, settled, debt, perDay, perMonth, full }
  }

  /** Reserves without waiting, where that can be done. @returns What the block then holds. */
  const reserveNow = (state: QuotaState, items: number): number => {
    if (clustered || state.reserving || settlements.isOnItsWay(state.id)) return state.block
    const reservation = reservationOf(state, items)
    const row = reservation.full ? undefined : rows.reserveNow(reservation)
    if (row !== undefined) arrived(state, reservation, row)
    return state.block
  }

  /** Takes what needs no waiting. @returns How many may go on; `undefined` where the row must be asked. */
  const takeHere = (state: QuotaState, items: number): number | undefined => {
    const { perDay, perMonth } = state.account
    if (state.block >= items) {
      state.block -= items
      return items
    }
    if (perDay === null && perMonth === null) {
      // Nothing to guard: it is counted, and written later.
      state.debt += items
      return items
    }
    if (outage.isOn()) return takeWithout(state, items)
    if (performance.now() < state.emptyUntil && leftToday(state) <= 0) {
      const granted = state.block
      state.block = 0
      return granted
    }
    const reserved = reserveNow(state, items)
    if (reserved < items) return undefined
    state.block -= items
    return items
  }

  /** Takes from what may be granted while the database is gone. */
  const takeWithout = (state: QuotaState, items: number): number | undefined => {
    const left = leftToday(state)
    const mine = Math.min(outageGrant - state.debt, left)
    const missing = items - state.block
    if (missing <= mine) {
      state.block = 0
      state.debt += missing
      outage.grant(state.id, missing)
      return items
    }
    if (left >= missing) return undefined
    // Used up even by what is known.
    const granted = state.block + Math.max(0, mine)
    state.debt += Math.max(0, mine)
    if (mine > 0) outage.grant(state.id, mine)
    state.block = 0
    return granted
  }

  /** Answers those who wait, in order, as far as what is reserved goes. */
  const serve = (state: QuotaState): void => {
    let served = 0
    for (const { account, items, resolve } of state.waiting) {
      if (state.block < items) break
      state.block -= items
      served += 1
      resolve(grantOf(state, account, items, items))
    }
    state.waiting.splice(0, served)
    if (!outage.isOn()) return
    for (const waiting of state.waiting.splice(0)) {
      const granted = takeWithout(state, waiting.items)
      if (granted === undefined)
        waiting.reject(new StorageError('the database cannot be reached', { fault: 'unavailable' }))
      else waiting.resolve(grantOf(state, waiting.account, waiting.items, granted))
    }
  }

  /** Rejects those who wait, but for what is left. */
  const reject = (state: QuotaState): void => {
    state.lingerUntil = 0
    for (const { account, items, resolve } of state.waiting.splice(0)) {
      const granted = Math.min(state.block, items)
      state.block -= granted
      resolve(grantOf(state, account, items, granted))
    }
  }

  /** Whether others may give back in a moment what those who wait need. */
  const mayLinger = (state: QuotaState, row: Reserved): boolean => {
    if (lingerMs === 0 || row.spare - state.spare <= state.deadSpare) return false
    const time = performance.now()
    if (state.lingerUntil === 0) state.lingerUntil = time + lingerMs
    if (time < state.lingerUntil) return true
    state.deadSpare = row.spare - state.spare
    return false
  }

  const arrived = (state: QuotaState, { need, debt }: { need: number; debt: number }, row: Reserved): void => {
    state.debt -= Math.min(debt, state.debt)
    if (row.day < state.day.day) {
      // Midnight passed on the way.
      const { day, month } = toUtcDay(row.day)
      const spare = Math.max(0, row.granted - need)
      if (row.granted > 0) settlements.add({ account: state.id, day, month, unused: row.granted, spare })
      if (state.waiting.length > 0) reserve(state)
      return
    }
    if (row.day > state.day.day) {
      // A clock that is ahead has opened the next day for all.
      endDay(state)
      beginDay(state, row.day)
    }
    state.row = row
    state.block += row.granted
    state.spare = Math.max(0, row.granted - need)
    // What was granted while this was on its way is covered by it first.
    const cover = Math.min(state.block, state.debt)
    state.block -= cover
    state.debt -= cover
    serve(state)
    if (state.waiting.length === 0) {
      state.lingerUntil = 0
      return
    }
    // Others of this file have used what the disk was sure of.
    if (row.granted >= need || leftToday(state) > 0) reserve(state)
    else if (mayLinger(state, row)) setTimeout(() => reserve(state), lingerEveryMs)
    else {
      state.emptyUntil = performance.now() + emptyMs
      reject(state)
    }
  }

  /** What was given up, and was reserved all the same: it is ours. */
  const arrivedLate = (state: QuotaState, { need, debt }: Reservation, row: Reserved): void => {
    if (row.day !== state.day.day || states.get(state.id) !== state || closed !== undefined) {
      const { day, month } = toUtcDay(row.day)
      settlements.add({ account: state.id, day, month, unused: row.granted, spare: Math.max(0, row.granted - need) })
      return
    }
    const cover = Math.min(row.granted, Math.max(0, state.debt - debt))
    state.debt -= Math.min(state.debt, debt + cover)
    state.block += row.granted - cover
    state.spare += Math.max(0, row.granted - need)
    serve(state)
  }

  const failed = (state: QuotaState, error: StorageError): void => {
    // It may have been written: then what it reserved stays used.
    state.spare = 0
    if (clustered && error.fault !== 'failed' && closed === undefined) {
      beginOutage()
      if (outage.isOn()) serve(state)
      return
    }
    for (const { reject } of state.waiting.splice(0)) reject(error)
  }

  /** In SQLite, does something once it is begun to count. */
  const begunToo = async (
    work: () => Promise<readonly (Reserved | StorageError)[]>,
    count: number,
  ): Promise<readonly (Reserved | StorageError)[]> => {
    try {
      if (!clustered) await begin()
    } catch (error) {
      if (error instanceof StorageError) return Array.from({ length: count }, () => error)
      throw error
    }
    return work()
  }

  const ask = async (batch: readonly QuotaState[], isGivenUp: () => boolean): Promise<void> => {
    // Nobody is rejected for what is on its way back.
    if (batch.some(({ id }) => settlements.isOnItsWay(id))) await settlements.write()
    const reservations = batch.map((state) => reservationOf(state, waitingItems(state)))
    const results = await begunToo(() => rows.reserve(reservations), batch.length)
    for (const [index, state] of batch.entries()) {
      const [result, reservation] = [results[index], reservations[index]]
      if (result === undefined || reservation === undefined) continue
      if (isGivenUp()) {
        if (!(result instanceof StorageError)) arrivedLate(state, reservation, result)
        continue
      }
      state.reserving = false
      if (result instanceof StorageError) failed(state, result)
      else arrived(state, reservation, result)
    }
  }

  /** In SQLite one transaction for all that has gathered; in PostgreSQL each alone, so that none waits for another's row. */
  const asking = createReservationQueue(clustered ? { most: 1, atOnce: 6, ask } : { most: maxRows, atOnce: 1, ask })

  const reserve = (state: QuotaState): void => {
    if (state.reserving || outage.isOn()) return
    state.reserving = true
    state.reservingSince = performance.now()
    asking.push(state)
  }

  const giveBackIdle = (state: QuotaState): void => {
    const { id: account, day, block, spare } = state
    if (block > 0 || spare > 0) settlements.add({ account, day: day.day, month: day.month, unused: block, spare })
    if (state.row !== undefined)
      state.row = { ...state.row, dayUsed: state.row.dayUsed - block, monthUsed: state.row.monthUsed - block }
    state.block = 0
    state.spare = 0
  }

  const bookDebt = (state: QuotaState): void => {
    const { id: account, day, debt } = state
    if (debt > 0) settlements.add({ account, day: day.day, month: day.month, unused: -debt, spare: 0 })
    if (state.row !== undefined)
      state.row = { ...state.row, dayUsed: state.row.dayUsed + debt, monthUsed: state.row.monthUsed + debt }
    state.debt = 0
  }

  /** Asks whether the database is back. */
  const probe = async (): Promise<void> => {
    try {
      await rows.find('')
      outage.end()
    } catch {
      // Not yet.
    }
  }

  let ticks = 0
  let ticking: Promise<void> | undefined
  const tick = async (): Promise<void> => {
    ticks += 1
    if (outage.isOn()) {
      // What is granted without the row stays in sight, as it bounds what else may be, until it can be written.
      await probe()
      if (outage.isOn()) return
    }
    for (const state of states.values()) {
      state.idleTicks = state.touched ? 0 : state.idleTicks + 1
      state.touched = false
      const idle = state.idleTicks >= idleTicks
      if (state.waiting.length > 0 || state.reserving) continue
      if (idle) giveBackIdle(state)
      const { perDay, perMonth } = state.account
      // Of what has a limit the debt is written by a reservation, so that none can be made beside it.
      if (state.debt > 0 && (perDay !== null || perMonth !== null)) reserve(state)
      else {
        if (idle || ticks % countEveryTicks === 0) bookDebt(state)
        if (idle) states.delete(state.id)
      }
    }
    if (settlements.any()) await settlements.write()
  }
  const timer = setInterval(() => {
    ticking ??= tick().finally(() => (ticking = undefined))
    if (clustered && !outage.isOn() && asking.isBusy()) {
      const time = performance.now()
      for (const { reserving, reservingSince } of states.values())
        if (reserving && time - reservingSince > patienceMs) return beginOutage()
    }
  }, tickMs)
  timer.unref()

  const end = async (): Promise<void> => {
    clearInterval(timer)
    // A database that does not answer must not keep the process from ending.
    const inTime = createTimeBudget(clustered ? patienceMs * 2 : Infinity)
    await inTime(Promise.all([ticking, asking.still()]))
    for (const state of states.values()) {
      if (!outage.isOn()) reject(state)
      else serve(state)
      giveBackIdle(state)
      bookDebt(state)
    }
    states.clear()
    const before = settlements.owed()
    const lost = (await inTime(settlements.write())) ? settlements.owed() : before
    if (lost > 0) tell({ event: 'quotaLost', items: lost })
    if (begun !== undefined) await rows.end(run).catch(() => {})
  }

  return {
    take: (account, items) => {
      if (closed !== undefined) return Promise.reject(new StorageError('the quota is closed', { fault: 'unavailable' }))
      const state = stateOf(account)
      if (state.waiting.length === 0) {
        const granted = takeHere(state, items)
        if (granted !== undefined) return grantOf(state, account, items, granted)
        if (outage.isOn())
          return Promise.reject(new StorageError('the database cannot be reached', { fault: 'unavailable' }))
      } else if (state.waiting.length >= maxWaiting)
        return Promise.reject(new StorageError('too many requests wait for a quota', { fault: 'busy' }))
      return new Promise((resolve, reject) => {
        state.waiting.push({ account, items, resolve, reject })
        if (state.lingerUntil === 0) reserve(state)
      })
    },
    giveBack: (grant, items) => {
      const before = returned.get(grant) ?? 0
      const back = Math.min(items, grant.granted - before)
      if (back <= 0 || closed !== undefined) return
      returned.set(grant, before + back)
      const state = stateOf(grant.account)
      if (state.day.text !== grant.day) return
      const unbooked = Math.min(back, state.debt)
      state.debt -= unbooked
      state.block += back - unbooked
      if (state.waiting.length > 0) serve(state)
      // More than a block is not kept, as a crash would cost it.
      const excess = state.block - blockOf(state.account)
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
      if (settlements.isOnItsWay(account.id)) await settlements.write()
      const row = await rows.find(account.id)
      const state = states.get(account.id)
      const held = state === undefined ? 0 : state.debt - state.block
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
    close: () => (closed ??= end()),
  }
}
