import { createAlertStates } from './alertStates.ts'
import type { AlertStates } from './alertStates.ts'
import { fromRow, jsonOrNull, listColumns, toRow } from './columns.ts'
import type { RecordOf } from './columns.ts'
import { createId } from './createId.ts'
import { alertDeliveryColumns, alertEmailColumns } from './tables.ts'
import type { Db, MemberRole } from './tables.ts'
import { changeRows } from './countRows.ts'
import { inTransaction, lockRows } from './transaction.ts'
import type { Webhook } from './webhooks.ts'

/** A quota, and what it was charged today. */
export interface ChargedQuota {
  /** `user:usr_…` for all API keys of a user, `app:app_…` for an app. */
  readonly id: string
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
export type AlertDelivery = RecordOf<typeof alertDeliveryColumns>

/** The alerts that a user gets by email. */
export type AlertEmails = RecordOf<typeof alertEmailColumns>

/** An operator who gets alerts about the service: by email, or by a webhook. */
export interface ServiceContact {
  readonly userId: string
  readonly email: string
  /** `null`: by email. */
  readonly webhook: Pick<Webhook, 'id' | 'url' | 'sealed'> | null
}

/** The alerts, and who gets them. */
export interface Alerts extends AlertStates {
  /** Lists quotas that were charged on a day, ordered by id, after `after`. */
  listCharged(page: {
    day: number
    after: string
    limit: number
  }): Promise<{ readonly items: readonly ChargedQuota[]; readonly last: string | undefined }>
  /** Records an alert. @returns `false` if it exists: another instance has created it. */
  add(alert: { quota: string; day: number; level: number; now: number }): Promise<boolean>
  /**
   * Lists who gets an alert about an account: its user, or the owners and admins of the team, and with `operators` all operators, by email if they want and their
   * address is verified, and their webhooks.
   */
  listRecipients(
    userId: string,
    options: { operators: boolean },
  ): Promise<readonly { readonly userId: string; readonly webhookId: string | null }[]>
  /** Lists the operators who get alerts about the service. */
  listServiceContacts(): Promise<readonly ServiceContact[]>
  addDelivery(delivery: {
    userId: string
    webhookId: string | null
    event: string
    now: number
  }): Promise<AlertDelivery>
  /** Takes up to `limit` deliveries that are due, of each account in turn. They are due again at `retryAt`, unless `finish` is called before. */
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
  /** Sets those that are given. @returns Whether there is such a user. */
  setEmails(
    userId: string,
    emails: { readonly [Name in keyof AlertEmails]: AlertEmails[Name] | undefined },
  ): Promise<boolean>
  /** Deletes alerts of days before `day` and alerts that were resolved before `before`, and up to `limit` deliveries from before it. @returns How many deliveries. */
  prune(options: { day: number; before: number; limit: number }): Promise<number>
}

const columns = listColumns(alertDeliveryColumns)

/** Finds the highest level of an alert of the day for each of some quotas. */
const findLevels = async (
  { query }: Db,
  quotas: readonly string[],
  day: number,
): Promise<ReadonlyMap<string, number>> => {
  if (quotas.length === 0) return new Map()
  const rows = await query
    .selectFrom('quotaAlerts')
    .select(['account', ({ fn }) => fn.max('level').as('level')])
    .where('account', 'in', quotas)
    .where('day', '=', day)
    .groupBy('account')
    .execute()
  return new Map(rows.map(({ account, level }) => [account, Number(level)]))
}

/** The owner of a quota. */
export type QuotaOwner = Pick<ChargedQuota, 'user' | 'app'>

const toOwner = (
  row: { readonly userId: string; readonly email: string; readonly userLimits: string | null },
  app: QuotaOwner['app'],
): QuotaOwner => ({ user: { id: row.userId, email: row.email, limits: jsonOrNull.read(row.userLimits) }, app })

/** Finds the owners of some quotas. Deleted ones are omitted. */
export const findOwners = async (
  { query }: Db,
  quotas: readonly string[],
): Promise<ReadonlyMap<string, QuotaOwner>> => {
  const listIds = (prefix: string) =>
    quotas.flatMap((quota) => (quota.startsWith(prefix) ? [quota.slice(prefix.length)] : []))
  const users = listIds('user:')
  const apps = listIds('app:')
  const userColumns = ['users.id as userId', 'users.email', 'users.limits as userLimits'] as const
  const owners = new Map<string, QuotaOwner>()
  if (users.length > 0) {
    const rows = await query
      .selectFrom('users')
      .select([...userColumns, 'users.quotaOwner'])
      // A user who signed up again today uses the quota of the deleted account.
      .where((row) =>
        row.or([
          row.and([row('users.quotaOwner', 'is', null), row('users.id', 'in', users)]),
          // A team that shares the quota of a user does not own it.
          row.and([
            row('users.quotaOwner', 'in', users),
            row('users.id', 'not in', query.selectFrom('teams').select('id')),
          ]),
        ]),
      )
      .execute()
    for (const row of rows) owners.set(`user:${row.quotaOwner ?? row.userId}`, toOwner(row, null))
  }
  if (apps.length > 0) {
    const rows = await query
      .selectFrom('apps')
      .innerJoin('users', 'users.id', 'apps.userId')
      .select([...userColumns, 'apps.id', 'apps.name', 'apps.limits'])
      .where('apps.id', 'in', apps)
      .execute()
    for (const { id, name, limits, ...row } of rows)
      owners.set(`app:${id}`, toOwner(row, { id, name, limits: jsonOrNull.read(limits) }))
  }
  return owners
}

const listCharged = async (
  db: Db,
  { day, after, limit }: { day: number; after: string; limit: number },
): Promise<{ readonly items: readonly ChargedQuota[]; readonly last: string | undefined }> => {
  const rows = await db.query
    .selectFrom('accountDays')
    .select(['account', ({ fn }) => fn.sum<number | string>('charged').as('charged')])
    .where('day', '=', day)
    .where('account', '>', after)
    .groupBy('account')
    .orderBy('account')
    .limit(limit)
    .execute()
  const quotas = rows.map(({ account }) => account)
  const levels = await findLevels(db, quotas, day)
  const owners = await findOwners(db, quotas)
  return {
    items: rows.flatMap(({ account, charged }) => {
      const owner = owners.get(account)
      return owner === undefined
        ? []
        : [{ id: account, charged: Number(charged), alerted: levels.get(account) ?? 0, ...owner }]
    }),
    last: rows.length === limit ? rows.at(-1)?.account : undefined,
  }
}

/** The members of a team who get its alerts. */
export const managerRoles: readonly MemberRole[] = ['owner', 'admin']

const listRecipients = async (
  { query }: Db,
  userId: string,
  { operators }: { readonly operators: boolean },
): Promise<readonly { readonly userId: string; readonly webhookId: string | null }[]> => {
  const managers = query
    .selectFrom('members')
    .select('userId')
    .where('accountId', '=', userId)
    .where('role', 'in', managerRoles)
  const emails = await query
    .selectFrom('users')
    .select('id')
    .where('state', '=', 'active')
    .where('emailVerifiedAt', 'is not', null)
    .where((row) =>
      row.or([
        row.and([row.or([row('id', '=', userId), row('id', 'in', managers)]), row('alertEmails', '=', 1)]),
        row.and([row('role', '=', 'operator'), row('alertEmailsAll', '=', 1), row.lit(operators)]),
      ]),
    )
    .execute()
  const webhooks = await query
    .selectFrom('webhooks')
    .innerJoin('users', 'users.id', 'webhooks.userId')
    .select(['webhooks.id as webhookId', 'webhooks.userId'])
    .where('users.state', '=', 'active')
    .where((row) =>
      row.or([
        row('webhooks.userId', '=', userId),
        row.and([row('webhooks.allUsers', '=', 1), row('users.role', '=', 'operator'), row.lit(operators)]),
      ]),
    )
    .execute()
  return [...emails.map(({ id }) => ({ userId: id, webhookId: null })), ...webhooks]
}

const listServiceContacts = async ({ query }: Db): Promise<readonly ServiceContact[]> => {
  const operators = query.selectFrom('users').where('users.state', '=', 'active').where('users.role', '=', 'operator')
  const emails = await operators
    .select(['users.id as userId', 'users.email'])
    .where('users.emailVerifiedAt', 'is not', null)
    .where('users.alertEmailsService', '=', 1)
    .orderBy('users.id')
    .execute()
  const webhooks = await operators
    .innerJoin('webhooks', 'webhooks.userId', 'users.id')
    .select(['users.id as userId', 'users.email', 'webhooks.id', 'webhooks.url', 'webhooks.sealed'])
    .where('webhooks.aboutService', '=', 1)
    .orderBy('webhooks.id')
    .execute()
  return [
    ...emails.map((contact) => ({ ...contact, webhook: null })),
    ...webhooks.map(({ userId, email, ...webhook }) => ({ userId, email, webhook })),
  ]
}

const takeDue = (
  db: Db,
  { now, retryAt, limit }: { readonly now: number; readonly retryAt: number; readonly limit: number },
): Promise<readonly AlertDelivery[]> =>
  inTransaction(db, async (transaction) => {
    // An account with many deliveries delays no other one.
    const inTurn = transaction.query
      .selectFrom('alertDeliveries')
      .select(({ fn }) => [
        'id',
        'nextAttemptAt',
        fn
          .agg<number>('row_number')
          .over((over) => over.partitionBy('userId').orderBy('nextAttemptAt').orderBy('id'))
          .as('turn'),
      ])
      .where('nextAttemptAt', '<=', now)
    const first = transaction.query
      .selectFrom(inTurn.as('due'))
      .select('due.id')
      .orderBy('due.turn')
      .orderBy('due.nextAttemptAt')
      .limit(limit)
    const due = transaction.query.selectFrom('alertDeliveries').select('id').where('id', 'in', first)
    const ids = (await lockRows(transaction, due).execute()).map(({ id }) => id)
    if (ids.length === 0) return []
    return (
      transaction.query
        .updateTable('alertDeliveries')
        .set((row) => ({ nextAttemptAt: retryAt, attempts: row('attempts', '+', 1) }))
        .where('id', 'in', ids)
        // Another instance has taken it since.
        .where('nextAttemptAt', '<=', now)
        .returning(columns)
        .execute()
    )
  })

/** Creates the repository of alerts. */
export const createAlerts = (db: Db): Alerts => {
  const { query } = db

  return {
    ...createAlertStates(db),
    listServiceContacts: () => listServiceContacts(db),
    listCharged: (page) => listCharged(db, page),
    add: async ({ quota, day, level, now }) => {
      const added = await query
        .insertInto('quotaAlerts')
        .values({ account: quota, day, level, createdAt: now })
        .onConflict((conflict) => conflict.columns(['account', 'day', 'level']).doNothing())
        .returning('account')
        .executeTakeFirst()
      return added !== undefined
    },
    listRecipients: (userId, options) => listRecipients(db, userId, options),
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
    takeDue: (options) => takeDue(db, options),
    finish: async ({ id, state, result, now, nextAttemptAt }) => {
      await query
        .updateTable('alertDeliveries')
        .set({ state, result, attemptedAt: now, nextAttemptAt })
        .where('id', '=', id)
        .execute()
    },
    listDeliveries: ({ userId, limit }) => {
      const newest = query.selectFrom('alertDeliveries').select(columns).where('userId', '=', userId)
      return newest.orderBy('createdAt', 'desc').orderBy('id').limit(limit).execute()
    },
    getEmails: async (userId) => {
      const row = await query
        .selectFrom('users')
        .select(listColumns(alertEmailColumns))
        .where('id', '=', userId)
        .executeTakeFirst()
      return row && fromRow(alertEmailColumns, row)
    },
    setEmails: async (userId, emails) =>
      (await changeRows(query.updateTable('users').set(toRow(alertEmailColumns, emails)).where('id', '=', userId))) > 0,
    prune: async ({ day, before, limit }) => {
      await query.deleteFrom('quotaAlerts').where('day', '<', day).execute()
      await query
        .deleteFrom('alertStates')
        // Nobody resolves those of the disk of a host that is gone.
        .where((row) =>
          row.or([row('resolvedAt', '<', before), row.and([row('kind', '=', 'disk'), row('startedAt', '<', before)])]),
        )
        .execute()
      const old = query.selectFrom('alertDeliveries').select('id').where('createdAt', '<', before).limit(limit)
      return changeRows(query.deleteFrom('alertDeliveries').where('id', 'in', old))
    },
  }
}
