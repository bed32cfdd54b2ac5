import type { Selectable } from 'kysely'
import { fromRow, jsonOrNull, listColumns, toRow } from './columns.ts'
import type { RecordOf } from './columns.ts'
import { createId } from './createId.ts'
import { alertEmailColumns } from './tables.ts'
import type { Db, Tables } from './tables.ts'
import { inTransaction, lockRows } from './transaction.ts'

/** An account with a daily quota, and what it was charged today. */
export interface ChargedAccount {
  /** `user:usr_…` for all API keys of a user, `app:app_…` for an app. */
  readonly account: string
  /** Units. May include units that an instance has reserved and not used. */
  readonly charged: number
  /** The highest level of an alert of the day, in percent; 0 if there is none. */
  readonly alerted: number
  readonly user: {
    readonly id: string
    readonly email: string
    readonly limits: Readonly<Record<string, unknown>> | null
  }
  /** `null` for all API keys of the user. */
  readonly app: {
    readonly id: string
    readonly name: string
    readonly limits: Readonly<Record<string, unknown>> | null
  } | null
}

/** An alert to send to one recipient. */
export interface AlertDelivery {
  readonly id: string
  /** The user who gets it. */
  readonly userId: string
  /** `null`: by email. */
  readonly webhookId: string | null
  /** The event as JSON, the body of a webhook's request. */
  readonly event: string
  readonly state: 'pending' | 'delivered' | 'failed'
  readonly attempts: number
  /** Of the last attempt, such as `HTTP 500`. */
  readonly result: string | null
  readonly createdAt: number
  readonly attemptedAt: number | null
}

/** The alerts that a user gets by email. */
export type AlertEmails = RecordOf<typeof alertEmailColumns>

/** The alerts about quotas. */
export interface Alerts {
  /** Whether an instance may look for alerts until `now + leaseMs`: no other instance does. */
  takeLease(lease: { leader: string; now: number; leaseMs: number }): Promise<boolean>
  /** Lists accounts that were charged on a day, ordered by account, after `after`. */
  listCharged(page: {
    day: number
    after: string
    limit: number
  }): Promise<{ readonly items: readonly ChargedAccount[]; readonly last: string | undefined }>
  /** Records an alert. @returns `false` if it exists: another instance has created it. */
  add(alert: { account: string; day: number; level: number; now: number }): Promise<boolean>
  /**
   * Lists who gets an alert about a user: the user and all operators, by email if they want and their address is verified, and their webhooks.
   */
  listRecipients(userId: string): Promise<readonly { readonly userId: string; readonly webhookId: string | null }[]>
  addDelivery(delivery: {
    userId: string
    webhookId: string | null
    event: string
    now: number
  }): Promise<AlertDelivery>
  /** Takes up to `limit` deliveries that are due. They are due again at `retryAt`, unless `finish` is called before. */
  takeDue(options: { now: number; retryAt: number; limit: number }): Promise<readonly AlertDelivery[]>
  /** Records an attempt. @param attempt.nextAttemptAt - `null`: no more attempts. */
  finish(attempt: {
    id: string
    state: AlertDelivery['state']
    result: string
    now: number
    nextAttemptAt: number | null
  }): Promise<void>
  /** The newest first. */
  listDeliveries(page: { userId: string; limit: number }): Promise<readonly AlertDelivery[]>
  getEmails(userId: string): Promise<AlertEmails | undefined>
  /** @returns Whether there is such a user. */
  setEmails(userId: string, emails: AlertEmails): Promise<boolean>
  /** Deletes alerts of days before `day`, and up to `limit` deliveries from before `before`. @returns How many deliveries. */
  prune(options: { day: number; before: number; limit: number }): Promise<number>
}

const columns = [
  'id',
  'userId',
  'webhookId',
  'event',
  'state',
  'attempts',
  'result',
  'createdAt',
  'attemptedAt',
] as const

const toDelivery = (row: Pick<Selectable<Tables['alertDeliveries']>, (typeof columns)[number]>): AlertDelivery => row

/** Creates the repository of alerts. */
export const createAlerts = (db: Db): Alerts => {
  const { query } = db

  const findLevels = async (accounts: readonly string[], day: number): Promise<ReadonlyMap<string, number>> => {
    if (accounts.length === 0) return new Map()
    const rows = await query
      .selectFrom('quotaAlerts')
      .select(['account', ({ fn }) => fn.max('level').as('level')])
      .where('account', 'in', accounts)
      .where('day', '=', day)
      .groupBy('account')
      .execute()
    return new Map(rows.map(({ account, level }) => [account, Number(level)]))
  }

  const findOwners = async (accounts: readonly string[]) => {
    const users = accounts.flatMap((account) => (account.startsWith('user:') ? [account.slice(5)] : []))
    const appIds = accounts.flatMap((account) => (account.startsWith('app:') ? [account.slice(4)] : []))
    const userColumns = ['users.id as userId', 'users.email', 'users.limits as userLimits', 'users.quotaOwner'] as const
    return {
      users:
        users.length === 0
          ? []
          : await query
              .selectFrom('users')
              .select(userColumns)
              // A user who signed up again today uses the quota of the deleted account.
              .where((row) =>
                row.or([
                  row.and([row('users.quotaOwner', 'is', null), row('users.id', 'in', users)]),
                  row('users.quotaOwner', 'in', users),
                ]),
              )
              .execute(),
      apps:
        appIds.length === 0
          ? []
          : await query
              .selectFrom('apps')
              .innerJoin('users', 'users.id', 'apps.userId')
              .select([...userColumns, 'apps.id as appId', 'apps.name', 'apps.limits as appLimits'])
              .where('apps.id', 'in', appIds)
              .execute(),
    }
  }

  return {
    takeLease: async ({ leader, now, leaseMs }) => {
      const { numUpdatedRows } = await query
        .updateTable('alertState')
        .set({ leader, leaderUntil: now + leaseMs })
        // A lease from the future was taken by a clock that was wrong.
        .where((row) =>
          row.or([row('leader', '=', leader), row('leaderUntil', '<=', now), row('leaderUntil', '>', now + leaseMs)]),
        )
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },
    listCharged: async ({ day, after, limit }) => {
      const rows = await query
        .selectFrom('accountDays')
        .select(['account', ({ fn }) => fn.sum<number | string>('charged').as('charged')])
        .where('day', '=', day)
        .where('account', '>', after)
        .groupBy('account')
        .orderBy('account')
        .limit(limit)
        .execute()
      const accounts = rows.map(({ account }) => account)
      const alerted = await findLevels(accounts, day)
      const { users, apps } = await findOwners(accounts)
      const owners = new Map<string, Pick<ChargedAccount, 'user' | 'app'>>()
      const toUser = (row: (typeof users)[number]): ChargedAccount['user'] => ({
        id: row.userId,
        email: row.email,
        limits: jsonOrNull.read(row.userLimits),
      })
      for (const row of users) owners.set(`user:${row.quotaOwner ?? row.userId}`, { user: toUser(row), app: null })
      for (const row of apps)
        owners.set(`app:${row.appId}`, {
          user: toUser(row),
          app: { id: row.appId, name: row.name, limits: jsonOrNull.read(row.appLimits) },
        })
      return {
        items: rows.flatMap(({ account, charged }) => {
          const owner = owners.get(account)
          return owner === undefined
            ? []
            : [{ account, charged: Number(charged), alerted: alerted.get(account) ?? 0, ...owner }]
        }),
        last: rows.length === limit ? rows.at(-1)?.account : undefined,
      }
    },
    add: async ({ account, day, level, now }) => {
      const added = await query
        .insertInto('quotaAlerts')
        .values({ account, day, level, createdAt: now })
        .onConflict((conflict) => conflict.columns(['account', 'day', 'level']).doNothing())
        .returning('account')
        .executeTakeFirst()
      return added !== undefined
    },
    listRecipients: async (userId) => {
      const emails = await query
        .selectFrom('users')
        .select('id')
        .where('state', '=', 'active')
        .where('emailVerifiedAt', 'is not', null)
        .where((row) =>
          row.or([
            row.and([row('id', '=', userId), row('alertEmails', '=', 1)]),
            row.and([row('role', '=', 'operator'), row('alertEmailsAll', '=', 1)]),
          ]),
        )
        .execute()
      const webhooks = await query
        .selectFrom('webhooks')
        .innerJoin('users', 'users.id', 'webhooks.userId')
        .select(['webhooks.id', 'webhooks.userId'])
        .where('users.state', '=', 'active')
        .where((row) =>
          row.or([
            row('webhooks.userId', '=', userId),
            row.and([row('webhooks.allUsers', '=', 1), row('users.role', '=', 'operator')]),
          ]),
        )
        .execute()
      return [
        ...emails.map(({ id }) => ({ userId: id, webhookId: null })),
        ...webhooks.map((webhook) => ({ userId: webhook.userId, webhookId: webhook.id })),
      ]
    },
    addDelivery: async ({ userId, webhookId, event, now }) => {
      const delivery = {
        id: createId('dlv'),
        userId,
        webhookId,
        event,
        state: 'pending' as const,
        attempts: 0,
        result: null,
        createdAt: now,
        attemptedAt: null,
      }
      await query
        .insertInto('alertDeliveries')
        .values({ ...delivery, nextAttemptAt: now })
        .execute()
      return delivery
    },
    takeDue: ({ now, retryAt, limit }) =>
      inTransaction(db, async (transaction) => {
        const due = transaction.query
          .selectFrom('alertDeliveries')
          .select('id')
          .where('nextAttemptAt', '<=', now)
          .orderBy('nextAttemptAt')
          .limit(limit)
        const ids = (await lockRows(transaction, due).execute()).map(({ id }) => id)
        if (ids.length === 0) return []
        const rows = await transaction.query
          .updateTable('alertDeliveries')
          .set((row) => ({ nextAttemptAt: retryAt, attempts: row('attempts', '+', 1) }))
          .where('id', 'in', ids)
          // Another instance has taken it since.
          .where('nextAttemptAt', '<=', now)
          .returning(columns)
          .execute()
        return rows.map(toDelivery)
      }),
    finish: async ({ id, state, result, now, nextAttemptAt }) => {
      await query
        .updateTable('alertDeliveries')
        .set({ state, result, attemptedAt: now, nextAttemptAt })
        .where('id', '=', id)
        .execute()
    },
    listDeliveries: async ({ userId, limit }) => {
      const newest = query.selectFrom('alertDeliveries').select(columns).where('userId', '=', userId)
      return (await newest.orderBy('createdAt', 'desc').orderBy('id').limit(limit).execute()).map(toDelivery)
    },
    getEmails: async (userId) => {
      const row = await query
        .selectFrom('users')
        .select(listColumns(alertEmailColumns))
        .where('id', '=', userId)
        .executeTakeFirst()
      return row && fromRow(alertEmailColumns, row)
    },
    setEmails: async (userId, emails) => {
      const { numUpdatedRows } = await query
        .updateTable('users')
        .set(toRow(alertEmailColumns, emails))
        .where('id', '=', userId)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },
    prune: async ({ day, before, limit }) => {
      await query.deleteFrom('quotaAlerts').where('day', '<', day).execute()
      const old = query.selectFrom('alertDeliveries').select('id').where('createdAt', '<', before).limit(limit)
      const { numDeletedRows } = await query.deleteFrom('alertDeliveries').where('id', 'in', old).executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}
