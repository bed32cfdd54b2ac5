import type { Storage } from '../../storage/openStorage.ts'
import { StorageError } from '../../errors/storageError.ts'
import type { Db } from '../../storage/tables.ts'
import type { Step, StepRows } from '../../storage/database.ts'

/** A request to reserve a block of calls in an account's row. */
export interface Reservation {
  readonly account: string
  readonly day: number
  readonly month: number
  /** Calls that wait for it. */
  readonly need: number
  /** Further calls to reserve for later. */
  readonly extra: number
  /** Calls reserved ahead earlier that are used by now. */
  readonly settled: number
  /** Calls granted without the row, which this adds to it. */
  readonly overage: number
  readonly perDay: number | null
  readonly perMonth: number | null
  /** Whether the write waits for the disk. Otherwise it grants at most what the disk already covers. */
  readonly full: boolean
}

/** An account's row after a reservation. */
export interface Reserved {
  /** At most `need + extra`; less than `need` if a window has too little left. */
  readonly granted: number
  /** The row's day. It is later than the requested one if an instance whose clock is ahead has started it. */
  readonly day: number
  readonly dayUsed: number
  readonly monthUsed: number
  /** The usage of the day that the disk covers. Beyond it a write must wait for the disk. */
  readonly sure: number
  /** Calls reserved ahead, by any instance, that may be returned. */
  readonly spare: number
}

/** Calls to return to a row, or to add because they were granted without it. */
export interface Settlement {
  readonly account: string
  readonly day: number
  readonly month: number
  /** Calls to return; below 0: calls to add. */
  readonly unused: number
  /** Calls reserved ahead that are used or returned by this. */
  readonly spare: number
}

/** The quota rows of a storage. */
export interface QuotaRows {
  /**
   * Starts counting in SQLite. If the machine went down during an earlier run, everything that the disk covered counts as used.
   * @param boot - The id of the current boot.
   * @throws {StorageError}
   */
  start(run: string, boot: string): Promise<void>
  /** Records a clean stop: everything is written. @throws {StorageError} */
  stop(run: string): Promise<void>
  /** Reserves for several accounts. @returns The reservation or the error of each, in order. Never rejects. */
  reserve(reservations: readonly Reservation[]): Promise<readonly (Reserved | StorageError)[]>
  /** Reserves synchronously what the disk already covers, from an existing row. @returns `undefined` if that is not possible. */
  reserveNow(reservation: Reservation): Reserved | undefined
  /** Writes settlements. @returns For each, in order: `undefined`, or the error if it may not have been written. Never rejects. */
  settle(settlements: readonly Settlement[]): Promise<readonly (StorageError | undefined)[]>
  find(account: string): Promise<{ day: number; dayUsed: number; month: number; monthUsed: number } | undefined>
}

/** If less than this is left, no extra calls are reserved, so that no instance holds what another needs. */
const noExtraBelow = 500
const unlimited = Number.MAX_SAFE_INTEGER

/**
 * How far beyond the usage a write that waits for the disk sets `sure`: a twentieth of what is left, from 25 to 500, or a thousandth if that is
 * more, up to 10,000. This is what a power cut may cost an account.
 */
const [leastAhead, usualAhead, mostAhead] = [25, 500, 10_000]

/** Concurrent statements in PostgreSQL, each with one row: a transaction that locks a single row cannot deadlock. */
const concurrency = 4

const statements = (kind: Db['kind']) => {
  const [least, greatest] = kind === 'sqlite' ? ['min', 'max'] : ['least', 'greatest']
  const parameter = (number: number): string => `cast(${kind === 'sqlite' ? '?' : '$'}${number} as bigint)`
  const account = kind === 'sqlite' ? '?1' : '$1'
  const [day, month, need, extra, settled, overage] = [
    parameter(2),
    parameter(3),
    parameter(4),
    parameter(5),
    parameter(6),
    parameter(7),
  ]
  const [perDay, perMonth, full] = [parameter(8), parameter(9), parameter(10)]
  // Everything is an expression over the row itself: after waiting for a row lock, PostgreSQL evaluates only these again.
  const dayUsed = `(case when day < ${day} then 0 else day_used end + ${overage})`
  const monthUsed = `(case when month < ${month} then 0 else month_used end + ${overage})`
  const left = `${least}(${perDay} - ${dayUsed}, ${perMonth} - ${monthUsed})`
  const byLimits = `case
    when ${left} <= 0 then 0
    when ${left} - ${need} > ${noExtraBelow} then ${least}(${need} + ${extra}, ${left} - ${noExtraBelow})
    else ${least}(${need}, ${left}) end`
  const bySure = `case when ${full} = 1 then ${unlimited}
    else ${greatest}(0, case when day < ${day} then 0 else sure end - ${dayUsed}) end`
  const decided = `${least}(${byLimits}, ${bySure})`
  // SQLite has one writer at a time, so the grant can be computed once, in a subquery.
  const [grant, subquery] =
    kind === 'sqlite'
      ? ['decided.calls', `from (select ${decided} as calls from quota where account = ${account}) as decided`]
      : [decided, '']
  const most = `${greatest}(${usualAhead}, ${least}(${mostAhead}, ${left} / 1000))`
  const ahead = `${greatest}(${leastAhead}, ${least}(${left} / 20, ${most}))`
  const spare = `${greatest}(0, case when day < ${day} then 0 else spare - ${settled} end)`
  return {
    open: `insert into quota (account, day, day_used, sure, month, month_used, spare, granted)
      values (${account}, ${day}, 0, 0, ${month}, 0, 0, 0) on conflict (account) do nothing`,
    reserve: `update quota set
      day = ${greatest}(day, ${day}),
      day_used = ${dayUsed} + ${grant},
      sure = case
        when ${full} = 1 then ${dayUsed} + ${grant} + ${ahead}
        when day < ${day} then 0
        else sure end,
      month = ${greatest}(month, ${month}),
      month_used = ${monthUsed} + ${grant},
      spare = ${spare} + ${greatest}(0, ${grant} - ${need}),
      granted = ${grant}
      ${subquery}
      where account = ${account}
      returning granted, day, day_used, month_used, sure, spare`,
    // Added calls start their day if it is newer. Calls returned to a past day no longer matter.
    settle: `update quota set
      day = case when ${need} < 0 then ${greatest}(day, ${day}) else day end,
      day_used = case
        when day = ${day} then ${greatest}(0, day_used - ${need})
        when day < ${day} and ${need} < 0 then -${need}
        else day_used end,
      sure = case
        when day = ${day} then ${greatest}(sure, day_used - ${need})
        when day < ${day} and ${need} < 0 then -${need}
        else sure end,
      month = case when ${need} < 0 then ${greatest}(month, ${month}) else month end,
      month_used = case
        when month = ${month} then ${greatest}(0, month_used - ${need})
        when month < ${month} and ${need} < 0 then -${need}
        else month_used end,
      spare = case
        when day = ${day} then ${greatest}(0, spare - ${extra})
        when day < ${day} and ${need} < 0 then 0
        else spare end
      where account = ${account}
      returning day`,
  }
}

const reservationValues = (reservation: Reservation): readonly number[] => {
  const { need, extra, settled, overage, perDay, perMonth, full } = reservation
  return [need, extra, settled, overage, perDay ?? unlimited, perMonth ?? unlimited, full ? 1 : 0]
}

const toReserved = (rows: StepRows): Reserved | undefined => {
  const [row] = rows as readonly { [name: string]: number }[]
  if (row === undefined) return undefined
  const { granted = 0, day = 0, sure = 0, spare = 0, day_used: dayUsed = 0, month_used: monthUsed = 0 } = row
  return { granted, day, dayUsed, monthUsed, sure, spare }
}

const toStorageError = (error: unknown): StorageError =>
  error instanceof StorageError ? error : new StorageError('the quota failed', { fault: 'failed' })

/** The parts of a storage that the rows need. */
export type QuotaStorage = Pick<Storage, 'db' | 'write' | 'writeNow'>

/** Creates the access to the quota rows of a storage. */
export const createQuotaRows = ({ db, write, writeNow }: QuotaStorage): QuotaRows => {
  const text = statements(db.kind)
  const noRow = new StorageError('the quota row no longer exists', { fault: 'failed' })

  interface Change {
    readonly open: Step
    readonly change: Step
  }
  const toChange = (
    { account, day, month }: Reservation | Settlement,
    to: string,
    values: readonly number[],
  ): Change => ({
    open: { text: text.open, values: [account, day, month] },
    change: { text: to, values: [account, day, month, ...values] },
  })

  /** Writes all in one transaction, which waits for the disk once. */
  const writeTogether = async (
    changes: readonly Change[],
    options?: { light: boolean },
  ): Promise<readonly (StepRows | StorageError)[]> => {
    try {
      const rows = await write(
        changes.flatMap(({ open, change }) => [open, change]),
        options,
      )
      return changes.map((_, index) => rows[index * 2 + 1] ?? [])
    } catch (error) {
      return changes.map(() => toStorageError(error))
    }
  }

  const writeAlone = async ({ open, change }: Change): Promise<StepRows> => {
    const [changed = []] = await write([change])
    if (changed.length > 0) return changed
    await write([open])
    return (await write([change]))[0] ?? []
  }

  /** Writes each in its own transaction, a few at a time. */
  const writeEach = async (changes: readonly Change[]): Promise<readonly (StepRows | StorageError)[]> => {
    const results: (StepRows | StorageError)[] = []
    for (let start = 0; start < changes.length; start += concurrency)
      results.push(
        ...(await Promise.all(
          changes.slice(start, start + concurrency).map((change) => writeAlone(change).catch(toStorageError)),
        )),
      )
    return results
  }
  const writeAll = db.kind === 'sqlite' ? writeTogether : writeEach

  return {
    start: async (run, boot) => {
      await write([
        {
          text: `update quota set month_used = month_used + sure - day_used, day_used = sure, spare = 0
            where sure > day_used and exists (select 1 from quota_runs where boot <> ?1)`,
          values: [boot],
        },
        { text: 'delete from quota_runs where boot <> ?1', values: [boot] },
        { text: 'insert into quota_runs (run, boot) values (?1, ?2)', values: [run, boot] },
      ])
    },
    stop: async (run) => {
      await write([{ text: 'delete from quota_runs where run = ?1', values: [run] }])
    },
    reserve: async (reservations) => {
      const changes = reservations.map((reservation) =>
        toChange(reservation, text.reserve, reservationValues(reservation)),
      )
      const light = reservations.every(({ full }) => !full)
      return (await writeAll(changes, { light })).map((result) => {
        if (result instanceof StorageError) return result
        return toReserved(result) ?? noRow
      })
    },
    reserveNow: (reservation) => {
      const { account, day, month } = reservation
      const rows = writeNow({ text: text.reserve, values: [account, day, month, ...reservationValues(reservation)] })
      return rows && toReserved(rows)
    },
    settle: async (settlements) => {
      const changes = settlements.map((settlement) =>
        toChange(settlement, text.settle, [settlement.unused, settlement.spare]),
      )
      // If this never reaches the disk, the usage is too high, never too low.
      const results = await writeAll(changes, { light: true })
      return results.map((result) => (result instanceof StorageError ? result : undefined))
    },
    find: (account) =>
      db.query
        .selectFrom('quota')
        .select(['day', 'dayUsed', 'month', 'monthUsed'])
        .where('account', '=', account)
        .executeTakeFirst(),
  }
}
