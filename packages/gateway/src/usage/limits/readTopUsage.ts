import { sql } from 'kysely'
import { findOwners } from '../../storage/alerts.ts'
import type { QuotaOwner } from '../../storage/alerts.ts'
import type { Storage } from '../../storage/openStorage.ts'

/** Who used most on a day, in units. */
export interface TopUsage {
  /** The quotas that were charged most. `owner`: `undefined` if it was deleted. */
  readonly quotas: readonly { readonly id: string; readonly units: number; readonly owner: QuotaOwner | undefined }[]
  /** The accounts whose apps and API keys were charged most. */
  readonly accounts: readonly { readonly userId: string; readonly units: number }[]
  /** What all quotas were charged. */
  readonly units: number
}

const charged = sql<number | string>`sum(charged)`

/** The account of a quota: that of an app, or if the app was deleted that of its metered keys, which outlive it. */
const accountOf = sql<string | null>`case when account like 'user:%' then substr(account, 6) else coalesce(
  (select user_id from apps where apps.id = substr(account, 5)),
  (select user_id from usage_keys where app_id = substr(account, 5) limit 1)) end`

/**
 * Reads who used most on a day, over all instances. Of today, it includes units that an instance has reserved and not used.
 * @param query.day - Days since 1970.
 * @param query.limit - The most quotas, and the most accounts.
 * @throws {StorageError}
 */
export const readTopUsage = async (
  { db }: Pick<Storage, 'db'>,
  { day, limit }: { day: number; limit: number },
): Promise<TopUsage> => {
  const ofDay = db.query
    .selectFrom('accountDays')
    .where('day', '=', day)
    .where('charged', '>', 0)
    // The table has the budgets and the traffic of nodes too.
    .where((row) => row.or([row('account', 'like', 'user:%'), row('account', 'like', 'app:%')]))
  const quotas = await ofDay
    .select(['account', charged.as('units')])
    .groupBy('account')
    .orderBy('units', 'desc')
    .orderBy('account')
    .limit(limit)
    .execute()
  const accounts = await ofDay
    .select([accountOf.as('userId'), charged.as('units')])
    .groupBy('userId')
    .orderBy('units', 'desc')
    .orderBy('userId')
    .limit(limit)
    .execute()
  const { units } = await ofDay
    .select(sql<number | string>`coalesce(sum(charged), 0)`.as('units'))
    .executeTakeFirstOrThrow()
  const owners = await findOwners(
    db,
    quotas.map(({ account }) => account),
  )
  return {
    quotas: quotas.map((row) => ({ id: row.account, units: Number(row.units), owner: owners.get(row.account) })),
    accounts: accounts.flatMap(({ userId, units: of }) => (userId === null ? [] : [{ userId, units: Number(of) }])),
    units: Number(units),
  }
}
