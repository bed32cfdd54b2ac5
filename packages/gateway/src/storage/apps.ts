import type { Selectable } from 'kysely'
import type { StoredKey } from '../lib/secrets/storeKey.ts'
import { changeApp } from './changeApp.ts'
import { createId } from './createId.ts'
import { foldLoosely } from './foldLoosely.ts'
import { inTransaction, lockUser } from './transaction.ts'
import { fromRow, toNewRow, toRow } from './columns.ts'
import type { NewOf, RecordOf } from './columns.ts'
import { containsText } from './columnValues.ts'
import { changeRows, countRows } from './countRows.ts'
import { toKeyRow } from './toKeyRow.ts'
import { recordChange } from './changes.ts'
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
   * day count too); `'notFound'` if there is no such user.
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
  /** The number of a user's places for apps that are taken: by apps, and by those that were removed on the same UTC day. */
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

/** Counts the places of a user that are taken: by apps, and by those that were removed on the same UTC day. */
export const countUsedApps = async (
  { query }: Db,
  { userId, now }: { userId: string; now: number },
): Promise<number> => {
  const removed = query.selectFrom('removedApps').where('removedAt', '>=', startOfUtcDay(now))
  return (
    (await countRows(query.selectFrom('apps').where('userId', '=', userId))) +
    (await countRows(removed.where('userId', '=', userId)))
  )
}

const createApp = (
  db: Db,
  { userId, details, key, max, now }: NewApp,
): Promise<App | 'nameTaken' | 'appsFull' | 'notFound'> =>
  inTransaction(db, async (transaction) => {
    if (!(await lockUser(transaction, userId))) return 'notFound'
    const nameFolded = foldLoosely(details.name)
    if (await hasName(transaction, { userId, nameFolded })) return 'nameTaken'
    if ((await countUsedApps(transaction, { userId, now })) >= max) return 'appsFull'
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

    countUsed: (user) => countUsedApps(db, user),

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
        if (!(await lockUser(transaction, userId))) return false
        const app = transaction.query.deleteFrom('apps').where('id', '=', id).where('userId', '=', userId)
        if ((await changeRows(app)) === 0) return false
        await transaction.query
          .deleteFrom('removedApps')
          .where('userId', '=', userId)
          .where('removedAt', '<', startOfUtcDay(now))
          .execute()
        await transaction.query.insertInto('removedApps').values({ id, userId, removedAt: now }).execute()
        await recordChange(transaction, { kind: 'app', id })
        return true
      }),
  }
}
