import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import type { StoredKey } from '../lib/secrets/storeKey.ts'
import { changeApp } from './changeApp.ts'
import { createId } from './createId.ts'
import { foldLoosely } from './foldLoosely.ts'
import { listLimitGroup, lockLimitGroups } from './limitGroup.ts'
import { inTransaction, lockRows, lockUser } from './transaction.ts'
import { fromRow, toNewRow, toRow } from './columns.ts'
import type { NewOf, RecordOf } from './columns.ts'
import { containsText } from './columnValues.ts'
import { changeRows, countRows } from './countRows.ts'
import { toKeyRow } from './toKeyRow.ts'
import { toOldKeyId } from './toOldKeyId.ts'
import { recordChange } from './changes.ts'
import type { SealedSecret } from './sealedSecrets.ts'
import { startOfUtcDay } from '../lib/utcDay.ts'
import { appColumns, appSettings } from './tables.ts'
import type { Db, Tables } from './tables.ts'

/** The settings of an app that a user can change. */
export type AppDetails = RecordOf<typeof appSettings>

/** An app, without its key. */
export type App = RecordOf<typeof appColumns>

/** An app to create. */
interface NewApp {
  readonly userId: string
  readonly details: NewOf<typeof appSettings>
  /** Created by `storeKey` of kind `app`, for this user. */
  readonly key: StoredKey
  /** How many apps the user may have. */
  readonly max: number
  readonly now: number
}

/** The apps. A function that takes a `userId` only sees the apps of that user. */
export interface Apps {
  /**
   * Creates an app and its key.
   * @returns The app; `'nameTaken'` if the user has an app with that name (ignoring case); `'appsFull'` (apps that were removed on the same UTC
   * day count too, and those of all accounts with the same limits); `'notFound'` if there is no such user.
   */
  create(app: NewApp): Promise<App | 'nameTaken' | 'appsFull' | 'notFound'>
  find(app: { id: string; userId: string }): Promise<App | undefined>
  /** The oldest first. */
  list(userId: string): Promise<readonly App[]>
  /**
   * Lists a page of a user's apps, the oldest first.
   * @param page.search - Only apps whose name contains this text (ignoring case). @default '': all apps
   * @param page.name - Only the app with this name (ignoring case). @default any
   * @param page.after - Only apps that come after this one.
   * @returns At most `limit` apps, and the number of apps on all pages.
   */
  page(page: {
    userId: string
    search?: string
    name?: string
    after?: { readonly createdAt: number; readonly id: string }
    limit: number
  }): Promise<{ readonly items: readonly App[]; readonly total: number }>
  /** The number of a user's places for apps that are taken: by apps, and by those that were removed on the same UTC day, in all accounts with the same limits. */
  countUsed(user: { userId: string; now: number }): Promise<number>
  /** The number of apps of all users. */
  count(): Promise<number>
  /** The number of apps of each of these users. Users without apps are omitted. */
  countByUser(userIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /**
   * Changes the given details only.
   * @param app.version - If given and the app has another version, nothing changes: `'versionMoved'`.
   */
  edit(app: {
    id: string
    userId: string
    version?: number
    details: Partial<AppDetails>
  }): Promise<App | 'nameTaken' | 'versionMoved' | 'notFound'>
  /** Deletes an app, its key and its lists. @returns Whether the app existed. */
  remove(app: { id: string; userId: string; now: number }): Promise<boolean>
  /**
   * Moves an app to another account, with its key, its lists, its limits and its history. Calls go on.
   * @param app.to - The id of that account.
   * @param app.max - How many apps it may have. Its place in the first account stays taken until the end of the UTC day, as that of a removed app.
   * @param app.reseal - Seals the copy of the key for its new owner; `null` if it cannot be opened.
   */
  transfer(app: {
    id: string
    userId: string
    to: string
    max: number
    reseal: (sealed: SealedSecret) => Uint8Array | null
    now: number
  }): Promise<App | 'nameTaken' | 'appsFull' | 'notFound'>
}

const toApp = (row: Selectable<Tables['apps']>): App => fromRow(appColumns, row)

/** Whether a user has another app with this name. */
const hasName = async (
  { query }: Db,
  { userId, nameFolded, exceptId = '' }: { userId: string; nameFolded: string; exceptId?: string },
): Promise<boolean> => {
  const other = await query
    .selectFrom('apps')
    .select('id')
    .where('userId', '=', userId)
    .where('nameFolded', '=', nameFolded)
    .where('id', '!=', exceptId)
    .executeTakeFirst()
  return other !== undefined
}

/** Counts the places of some accounts that are taken: by apps, and by those that were removed on the same UTC day. */
export const countUsedApps = async (
  { query }: Db,
  { userIds, now }: { userIds: readonly string[]; now: number },
): Promise<number> => {
  const removed = query.selectFrom('removedApps').where('removedAt', '>=', startOfUtcDay(now))
  return (
    (await countRows(query.selectFrom('apps').where('userId', 'in', userIds))) +
    (await countRows(removed.where('userId', 'in', userIds)))
  )
}

const createApp = (
  db: Db,
  { userId, details, key, max, now }: NewApp,
): Promise<App | 'nameTaken' | 'appsFull' | 'notFound'> =>
  inTransaction(db, async (transaction) => {
    const [userIds] = (await lockLimitGroups(transaction, [userId])) ?? []
    if (userIds === undefined) return 'notFound'
    const nameFolded = foldLoosely(details.name)
    if (await hasName(transaction, { userId, nameFolded })) return 'nameTaken'
    if ((await countUsedApps(transaction, { userIds, now })) >= max) return 'appsFull'
    const app = await transaction.query
      .insertInto('apps')
      .values({
        ...toNewRow(appColumns, {
          ...details,
          name: details.name.trim(),
          id: createId('app'),
          userId,
          version: 1,
          createdAt: now,
        }),
        nameFolded,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await transaction.query
      .insertInto('keys')
      .values(toKeyRow(key, { userId, appId: app.id, name: '', description: '', createdAt: now }))
      .execute()
    return toApp(app)
  })

/** Records that places of apps stay taken until the end of the UTC day: each app has a daily quota. */
export const leavePlaces = async (
  { query }: Db,
  { count, userId, now }: { count: number; userId: string; now: number },
): Promise<void> => {
  await query
    .deleteFrom('removedApps')
    .where('userId', '=', userId)
    .where('removedAt', '<', startOfUtcDay(now))
    .execute()
  if (count === 0) return
  // With ids of their own: an app that went to another account can be removed there on the same day.
  const places = Array.from({ length: count }, () => ({ id: createId('app'), userId, removedAt: now }))
  await query.insertInto('removedApps').values(places).execute()
}

const transfer = async (
  transaction: Db,
  { id, userId, to, max, reseal, now }: Parameters<Apps['transfer']>[0],
): ReturnType<Apps['transfer']> => {
  const { query } = transaction
  const [userIds] = (await lockLimitGroups(transaction, [to, userId])) ?? []
  const owned = query.selectFrom('apps').selectAll().where('id', '=', id).where('userId', '=', userId)
  const app = await lockRows(transaction, owned).executeTakeFirst()
  const key = await query.selectFrom('keys').select(['id', 'sealed']).where('appId', '=', id).executeTakeFirst()
  if (userIds === undefined || app === undefined || key === undefined) return 'notFound'
  if (await hasName(transaction, { userId: to, nameFolded: app.nameFolded })) return 'nameTaken'
  if (!userIds.includes(userId)) {
    if ((await countUsedApps(transaction, { userIds, now })) >= max) return 'appsFull'
    await leavePlaces(transaction, { count: 1, userId, now })
  }
  const sealed = key.sealed === null ? null : reseal({ id: key.id, userId, sealed: key.sealed })
  await moveRows(transaction, { appId: id, keyId: key.id, to, sealed })
  return changeApp(transaction, { id, userId: to, work: async (moved) => toApp(moved) })
}

/** Gives the rows of an app and its key to another account. The key refers to the app and its owner, so both change at once. */
const moveRows = async (
  { query, kind }: Db,
  { appId, keyId, to, sealed }: { appId: string; keyId: string; to: string; sealed: Uint8Array | null },
): Promise<void> => {
  if (kind === 'sqlite') {
    // Until the commit.
    await sql`pragma defer_foreign_keys = on`.execute(query)
    await query.updateTable('apps').set({ userId: to }).where('id', '=', appId).execute()
    await query.updateTable('keys').set({ userId: to, sealed }).where('id', '=', keyId).execute()
  } else {
    // PostgreSQL checks references at the end of a statement.
    await query
      .with('moved', (within) => within.updateTable('apps').set({ userId: to }).where('id', '=', appId).returning('id'))
      .updateTable('keys')
      .set({ userId: to, sealed })
      .where('id', '=', keyId)
      .execute()
  }
  await query.updateTable('usageKeys').set({ userId: to }).where('appId', '=', appId).execute()
  // If its first calls are not written yet, also those with the old key of a rotation: their instance still knows the first owner, and does not
  // replace these rows.
  await query
    .insertInto('usageKeys')
    .values([keyId, toOldKeyId(keyId)].map((id) => ({ keyId: id, appId, userId: to })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Creates the repository of apps. */
export const createApps = (db: Db): Apps => {
  const { query } = db
  const selectByUser = (userId: string) => query.selectFrom('apps').selectAll().where('userId', '=', userId)

  return {
    create: (app) => createApp(db, app),

    find: async ({ id, userId }) => {
      const row = await selectByUser(userId).where('id', '=', id).executeTakeFirst()
      return row && toApp(row)
    },

    list: async (userId) => (await selectByUser(userId).orderBy('createdAt').orderBy('id').execute()).map(toApp),

    page: async ({ userId, search = '', name, after, limit }) => {
      let all = query.selectFrom('apps').where('userId', '=', userId)
      const part = foldLoosely(search)
      if (part !== '') all = all.where(containsText('nameFolded', part))
      if (name !== undefined) all = all.where('nameFolded', '=', foldLoosely(name))
      let rest = all.selectAll()
      if (after !== undefined)
        rest = rest.where((row) =>
          row.or([
            row('createdAt', '>', after.createdAt),
            row.and([row('createdAt', '=', after.createdAt), row('id', '>', after.id)]),
          ]),
        )
      const rows = await rest.orderBy('createdAt').orderBy('id').limit(limit).execute()
      return { items: rows.map(toApp), total: await countRows(all) }
    },

    countUsed: async ({ userId, now }) => countUsedApps(db, { userIds: await listLimitGroup(db, userId), now }),

    count: () => countRows(query.selectFrom('apps')),

    countByUser: async (userIds) => {
      if (userIds.length === 0) return new Map()
      const rows = await query
        .selectFrom('apps')
        .select(({ fn }) => ['userId', fn.countAll<number>().as('total')])
        .where('userId', 'in', userIds)
        .groupBy('userId')
        .execute()
      return new Map(rows.map(({ userId, total }) => [userId, total]))
    },

    edit: ({ id, userId, version, details }) =>
      inTransaction(db, async (transaction) => {
        if (!(await lockUser(transaction, userId))) return 'notFound'
        const before = await transaction.query
          .selectFrom('apps')
          .selectAll()
          .where('userId', '=', userId)
          .where('id', '=', id)
          .executeTakeFirst()
        if (before === undefined) return 'notFound'
        if (version !== undefined && before.version !== version) return 'versionMoved'
        const { name = before.name } = details
        const nameFolded = foldLoosely(name)
        if (await hasName(transaction, { userId, nameFolded, exceptId: id })) return 'nameTaken'
        await transaction.query
          .updateTable('apps')
          .set({ ...toRow(appSettings, { ...details, name: name.trim() }), nameFolded })
          .where('id', '=', id)
          .execute()
        return changeApp(transaction, { id, userId, work: async (app) => toApp(app) })
      }),

    remove: ({ id, userId, now }) =>
      inTransaction(db, async (transaction) => {
        // Locked, so that a concurrent `create` counts this app, either as an app or as a removed one.
        if ((await lockLimitGroups(transaction, [userId])) === undefined) return false
        const app = transaction.query.deleteFrom('apps').where('id', '=', id).where('userId', '=', userId)
        if ((await changeRows(app)) === 0) return false
        await leavePlaces(transaction, { count: 1, userId, now })
        await recordChange(transaction, { kind: 'app', id })
        return true
      }),

    transfer: (app) => inTransaction(db, (transaction) => transfer(transaction, app)),
  }
}
