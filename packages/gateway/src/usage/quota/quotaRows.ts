import type { Storage } from '../../storage/openStorage.ts'
import { StorageError } from '../../errors/storageError.ts'
import type { Db } from '../../storage/tables.ts'
import type { Step, StepRows } from '../../storage/database.ts'

/** What is asked of an account's row: a block of items. */
export interface Reservation {
  readonly account: string
  readonly day: number
  readonly month: number
  /** How many items wait for it. */
  readonly need: number
  /** How many more are wanted, to be used later. */
  readonly extra: number
  /** How many items reserved ahead earlier are used by now. */
  readonly settled: number
  /** How many items were granted without the row, and are counted by this. */
  readonly debt: number
  readonly perDay: number | null
  readonly perMonth: number | null
  /** Whether the disk is waited for. Else no more is granted than it has for certain. */
  readonly full: boolean
}

/** An account's row after a reservation. */
export interface Reserved {
  /** At most what was needed and extra; less than was needed where a window has too little left. */
  readonly granted: number
  /** The row's day: a later one than was asked for, where a clock that is ahead has opened that. */
  readonly day: number
  readonly dayUsed: number
  readonly monthUsed: number
  /** Up to how much of the day may be used before the disk is waited for again. */
  readonly sure: number
  /** What is reserved ahead, by anybody, and may come back. */
  readonly spare: number
}

/** Items that come back to a row, or were granted without it. */
export interface Settlement {
  readonly account: string
  readonly day: number
  readonly month: number
  /** How many come back; below 0: how many are added. */
  readonly unused: number
  /** How many of those reserved ahead are used or come back with this. */
  readonly spare: number
}

/** The rows of quotas. */
export interface QuotaRows {
  /**
   * Begins to count in SQLite. What the disk had for certain counts as used where the machine went down under whoever counted before.
   * @param boot - Names this run of the machine.
   * @throws {StorageError}
   */
  begin(run: string, boot: string): Promise<void>
  /** Ends it: everything is written. @throws {StorageError} */
  end(run: string): Promise<void>
  /** Reserves for several accounts. @returns For each, in order: what was reserved, or why nothing could be. Never rejected. */
  reserve(reservations: readonly Reservation[]): Promise<readonly (Reserved | StorageError)[]>
  /** Reserves at once what the disk is sure of, from a row that is there. @returns `undefined` where that cannot be done at once. */
  reserveNow(reservation: Reservation): Reserved | undefined
  /** Writes settlements. @returns For each, in order: nothing, or why it may not have been written. Never rejected. */
  settle(settlements: readonly Settlement[]): Promise<readonly (StorageError | undefined)[]>
  find(account: string): Promise<{ day: number; dayUsed: number; month: number; monthUsed: number } | undefined>
}

/** From here on only what is needed is reserved, so that nobody is rejected for what others hold. */
const tight = 500
const unlimited = Number.MAX_SAFE_INTEGER

/**
 * How much further the disk is sure than what is used, once it is waited for: a twentieth of what is left, from 25 to 500, or a thousandth where
 * that is more, to 10,000. What a power cut may cost an account.
 */
const [leastAhead, usualAhead, mostAhead] = [25, 500, 10_000]

/** PostgreSQL takes single statements, a few at a time: rows locked one by one cannot wait for each other in a ring. */
const atOnce = 4

const statements = (kind: Db['kind']) => {
  const [least, greatest] = kind === 'sqlite' ? ['min', 'max'] : ['least', 'greatest']
  const parameter = (number: number): string => `cast(${kind === 'sqlite' ? '?' : '$'}${number} as bigint)`
  const account = kind === 'sqlite' ? '?1' : '$1'
  const [day, month, need, extra, settled, debt] = [
    parameter(2),
    parameter(3),
    parameter(4),
    parameter(5),
    parameter(6),
    parameter(7),
  ]
  const [perDay, perMonth, full] = [parameter(8), parameter(9), parameter(10)]
  // All of it stands in expressions over the row itself: PostgreSQL reads those again after it has waited for the row, and nothing else.
  const dayUsed = `(case when day < ${day} then 0 else day_used end + ${debt})`
  const monthUsed = `(case when month < ${month} then 0 else month_used end + ${debt})`
  const left = `${least}(${perDay} - ${dayUsed}, ${perMonth} - ${monthUsed})`
  const byLimits = `case
    when ${left} <= 0 then 0
    when ${left} - ${need} > ${tight} then ${least}(${need} + ${extra}, ${left} - ${tight})
    else ${least}(${need}, ${left}) end`
  const bySure = `case when ${full} = 1 then ${unlimited}
    else ${greatest}(0, case when day < ${day} then 0 else sure end - ${dayUsed}) end`
  const decided = `${least}(${byLimits}, ${bySure})`
  // SQLite has one writer at a time, so there it may be worked out once, beforehand.
  const [grant, beforehand] =
    kind === 'sqlite'
      ? ['decided.items', `from (select ${decided} as items from quota where account = ${account}) as decided`]
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
      ${beforehand}
      where account = ${account}
      returning granted, day, day_used, month_used, sure, spare`,
    // What is added opens the day that it is of; what comes back to a day that is over does not matter any more.
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
  const { need, extra, settled, debt, perDay, perMonth, full } = reservation
  return [need, extra, settled, debt, perDay ?? unlimited, perMonth ?? unlimited, full ? 1 : 0]
}

const reservedOf = (rows: StepRows): Reserved | undefined => {
  const [row] = rows as readonly { [name: string]: number }[]
  if (row === undefined) return undefined
  const { granted = 0, day = 0, sure = 0, spare = 0, day_used: dayUsed = 0, month_used: monthUsed = 0 } = row
  return { granted, day, dayUsed, monthUsed, sure, spare }
}

const storageErrorOf = (error: unknown): StorageError =>
  error instanceof StorageError ? error : new StorageError('the quota failed', { fault: 'failed' })

/** What of a storage holds the rows. */
export type QuotaStorage = Pick<Storage, 'db' | 'write' | 'writeNow'>

/** Makes the rows of a storage. */
export const createQuotaRows = ({ db, write, writeNow }: QuotaStorage): QuotaRows => {
  const text = statements(db.kind)
  const noRow = new StorageError('the row of a quota has gone', { fault: 'failed' })

  interface Change {
    readonly open: Step
    readonly change: Step
  }
  const changeOf = (
    { account, day, month }: Reservation | Settlement,
    to: string,
    values: readonly number[],
  ): Change => ({
    open: { text: text.open, values: [account, day, month] },
    change: { text: to, values: [account, day, month, ...values] },
  })

  /** All in one transaction, as each would wait for the disk else. */
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
      return changes.map(() => storageErrorOf(error))
    }
  }

  const writeAlone = async ({ open, change }: Change): Promise<StepRows> => {
    const [changed = []] = await write([change])
    if (changed.length > 0) return changed
    await write([open])
    return (await write([change]))[0] ?? []
  }

  /** Each by itself, a few at a time. */
  const writeEach = async (changes: readonly Change[]): Promise<readonly (StepRows | StorageError)[]> => {
    const results: (StepRows | StorageError)[] = []
    for (let start = 0; start < changes.length; start += atOnce)
      results.push(
        ...(await Promise.all(
          changes.slice(start, start + atOnce).map((change) => writeAlone(change).catch(storageErrorOf)),
        )),
      )
    return results
  }
  const writeAll = db.kind === 'sqlite' ? writeTogether : writeEach

  return {
    begin: async (run, boot) => {
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
    end: async (run) => {
      await write([{ text: 'delete from quota_runs where run = ?1', values: [run] }])
    },
    reserve: async (reservations) => {
      const changes = reservations.map((reservation) =>
        changeOf(reservation, text.reserve, reservationValues(reservation)),
      )
      const light = reservations.every(({ full }) => !full)
      return (await writeAll(changes, { light })).map((result) => {
        if (result instanceof StorageError) return result
        return reservedOf(result) ?? noRow
      })
    },
    reserveNow: (reservation) => {
      const { account, day, month } = reservation
      const rows = writeNow({ text: text.reserve, values: [account, day, month, ...reservationValues(reservation)] })
      return rows && reservedOf(rows)
    },
    settle: async (settlements) => {
      const changes = settlements.map((settlement) =>
        changeOf(settlement, text.settle, [settlement.unused, settlement.spare]),
      )
      // Not on the disk it counts too much, never too little.
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
