import type { UtcDay } from '../../lib/utcDay.ts'
import type { Step, StepRows } from '../../storage/database.ts'
import type { Storage } from '../../storage/openStorage.ts'
import { toInserts } from '../../storage/steps.ts'
import type { Insertion } from '../../storage/steps.ts'
import type { Db } from '../../storage/tables.ts'
import { inTransaction, lockRows } from '../../storage/transaction.ts'
import { getMonthStart } from './quotaCounter.ts'
import type { ReservedRow } from './reservation.ts'

/** The units that a quota was charged in a day and its month. */
export interface ChargedSums {
  readonly day: number
  readonly month: number
}

/** A row to set to `target`, as far as the limits allow, but never below `atLeast`. */
export interface ReserveRequest {
  /** The id of the quota, as everywhere in this file. */
  readonly account: string
  readonly run: string
  readonly day: UtcDay
  readonly atLeast: number
  readonly target: number
  readonly perDay: number | null
  readonly perMonth: number | null
}

/** The charges of a run for a quota in a day: the complete new value of the row. */
export interface ChargedRow {
  readonly account: string
  /** Days since 1970. */
  readonly day: number
  readonly run: string
  readonly charged: number
}

/**
 * The table `account_days`: what each run of each process was charged for each quota and day. Only its own process writes a row, so writes
 * may be repeated.
 */
export interface AccountDays {
  /** Raises rows of this process in one transaction that waits for the disk. @throws {StorageError} */
  reserve(requests: readonly ReserveRequest[]): Promise<readonly ReservedRow[]>
  /** Reads what quotas were charged by all runs. @throws {StorageError} */
  read(accounts: readonly string[], day: UtcDay): Promise<ReadonlyMap<string, ChargedSums>>
  /** Reads what accounts were charged by all runs on each day from `from` to `to`. @throws {StorageError} */
  readDays(accounts: readonly string[], from: number, to: number): Promise<readonly Omit<ChargedRow, 'run'>[]>
  /** Builds the statements that write rows. */
  toSteps(rows: readonly ChargedRow[]): readonly Step[]
  /**
   * Merges the rows of past days, and deletes those of past months (of nodes' traffic: after 400 days), up to `limit` rows at once.
   * @param day - Today.
   * @returns How many rows it deleted.
   * @throws {StorageError}
   */
  compact(day: UtcDay, limit: number): Promise<number>
}

/** Means no limit in SQL. */
const unlimited = Number.MAX_SAFE_INTEGER
/** The statements of one kind of database. */
const createStatements = (kind: 'sqlite' | 'postgres') => {
  const isSqlite = kind === 'sqlite'
  const [least, greatest] = isSqlite ? ['min', 'max'] : ['least', 'greatest']
  const parameter = (number: number, type = 'bigint'): string => (isSqlite ? `?${number}` : `$${number}::${type}`)
  const [account, day, run, monthStart] = [parameter(1, 'text'), parameter(2), parameter(3, 'text'), parameter(4)]
  const [atLeast, target, perDay, perMonth] = [parameter(5), parameter(6), parameter(7), parameter(8)]
  const others = `from account_days
    where account = ${account} and day between ${monthStart} and ${day} and not (day = ${day} and run = ${run})`
  const sum = (filter: string): string =>
    `cast(coalesce(sum(charged)${filter}, 0) as ${isSqlite ? 'integer' : 'bigint'})`
  const otherDay = sum(` filter (where day = ${day})`)
  return {
    // Transactions of other processes read the same sums, so they run one after another. SQLite has one writer anyway.
    lock: isSqlite ? undefined : `select pg_advisory_xact_lock(hashtextextended(${account}, 0))`,
    reserve: `insert into account_days (account, day, run, charged)
      select ${account}, ${day}, ${run},
        ${greatest}(${atLeast}, ${least}(${target}, ${perDay} - ${otherDay}, ${perMonth} - ${sum('')})) ${others}
      on conflict (account, day, run) do update set charged = excluded.charged
      returning charged`,
    others: `select ${otherDay} as other_day, ${sum('')} as other_month ${others}`,
  }
}

const chargesInsertion: Insertion<keyof ChargedRow> = {
  into: 'account_days',
  columns: ['account', 'day', 'run', 'charged'],
  conflict: '(account, day, run) do update set charged = excluded.charged',
}

const toNumber = (rows: StepRows | undefined, name: string): number => Number(rows?.[0]?.[name] ?? 0)

/** Creates the access to the table of a storage. */
export const createAccountDays = ({ db, write }: Pick<Storage, 'db' | 'write'>): AccountDays => {
  const text = createStatements(db.kind)
  const stepsEach = text.lock === undefined ? 2 : 3

  const readDays: AccountDays['readDays'] = async (accounts, from, to) => {
    const rows = await db.query
      .selectFrom('accountDays')
      .select(['account', 'day', ({ fn }) => fn.sum<number | string>('charged').as('charged')])
      .where('account', 'in', accounts)
      .where('day', '>=', from)
      .where('day', '<=', to)
      .groupBy(['account', 'day'])
      .execute()
    return rows.map((row) => ({ ...row, charged: Number(row.charged) }))
  }

  return {
    readDays,
    reserve: async (requests) => {
      const steps = requests.flatMap(({ account, run, day, atLeast, target, perDay, perMonth }): Step[] => {
        const key = [account, day.day, run, getMonthStart(day)]
        const limits = [atLeast, target, perDay ?? unlimited, perMonth ?? unlimited]
        return [
          ...(text.lock === undefined ? [] : [{ text: text.lock, values: [account] }]),
          { text: text.reserve, values: [...key, ...limits] },
          { text: text.others, values: key },
        ]
      })
      const results = await write(steps)
      return requests.map((_, index) => {
        const [reserved, others] = results.slice(index * stepsEach + stepsEach - 2)
        return {
          charged: toNumber(reserved, 'charged'),
          otherDay: toNumber(others, 'other_day'),
          otherMonth: toNumber(others, 'other_month'),
        }
      })
    },
    read: async (accounts, day) => {
      const sums = new Map<string, { day: number; month: number }>()
      for (const row of await readDays(accounts, getMonthStart(day), day.day)) {
        const sum = sums.get(row.account) ?? { day: 0, month: 0 }
        const { charged } = row
        sum.month += charged
        if (row.day === day.day) sum.day += charged
        sums.set(row.account, sum)
      }
      return sums
    },
    toSteps: (rows) => toInserts(db.kind, chargesInsertion, rows),
    compact: (day, limit) =>
      inTransaction(db, async (transaction) => {
        const monthStart = getMonthStart(day)
        const trafficFrom = day.day - trafficDays
        const old = transaction.query
          .selectFrom('accountDays')
          .select(['account', 'day', 'run', 'charged'])
          // Yesterday may still get its last rows.
          .where('day', '<', day.day - 1)
          .where((row) =>
            row.or([
              row('run', '<>', mergedRun),
              row('day', '<', trafficFrom),
              row.and([row('day', '<', monthStart), row('account', 'not like', `${trafficPrefix}%`)]),
            ]),
          )
          .orderBy('day')
          .limit(limit)
        // Another instance that merges the same rows waits, and then finds no rows.
        const rows = await lockRows(transaction, old).execute()
        for (const row of rows) {
          if (row.day >= (row.account.startsWith(trafficPrefix) ? trafficFrom : monthStart))
            await addToMerged(transaction, row)
          await transaction.query
            .deleteFrom('accountDays')
            .where('account', '=', row.account)
            .where('day', '=', row.day)
            .where('run', '=', row.run)
            .execute()
        }
        return rows.length
      }),
  }
}

/** The accounts that count the traffic of nodes start with this. */
export const trafficPrefix = 'traffic:'
/** How many days of them are kept. */
const trafficDays = 400

/** The run of rows that were merged. */
const mergedRun = ''

const addToMerged = ({ query }: Db, { account, day, charged }: ChargedRow): Promise<unknown> =>
  query
    .insertInto('accountDays')
    .values({ account, day, run: mergedRun, charged })
    .onConflict((conflict) =>
      conflict.columns(['account', 'day', 'run']).doUpdateSet((row) => ({
        charged: row('accountDays.charged', '+', row.ref('excluded.charged')),
      })),
    )
    .execute()
