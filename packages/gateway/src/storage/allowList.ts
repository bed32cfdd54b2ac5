import { changeApp } from './changeApp.ts'
import { listColumns, toNewRow } from './columns.ts'
import type { RecordOf } from './columns.ts'
import { changeRows } from './countRows.ts'
import { createId } from './createId.ts'
import { allowEntryColumns } from './tables.ts'
import type { Db } from './tables.ts'

/** An entry of an app's allow list. */
export type AllowEntry = RecordOf<typeof allowEntryColumns>

/** The kind of an entry. */
export type AllowType = AllowEntry['type']

/** The allow lists of apps. */
export interface AllowList {
  /** The oldest first. */
  list(app: { appId: string; userId: string }): Promise<readonly AllowEntry[]>
  /**
   * Adds an entry.
   * @param entry.max - How many entries of this type the app may have.
   * @returns The entry; `'entryTaken'` if the app already has it; `'entriesFull'`; `'notFound'` if the user has no such app.
   */
  add(entry: {
    appId: string
    userId: string
    type: AllowType
    value: string
    label: string
    max: number
    now: number
  }): Promise<AllowEntry | 'entryTaken' | 'entriesFull' | 'notFound'>
  /** Changes an entry's label. */
  edit(entry: { id: string; appId: string; userId: string; label: string }): Promise<AllowEntry | 'notFound'>
  /** @returns Whether the user had an app with this entry. */
  remove(entry: { id: string; appId: string; userId: string }): Promise<boolean>
}

const columns = listColumns(allowEntryColumns)

/** Creates the repository of allow lists. */
export const createAllowList = (db: Db): AllowList => ({
  list: ({ appId, userId }) =>
    db.query
      .selectFrom('allowEntries')
      .innerJoin('apps', 'apps.id', 'allowEntries.appId')
      .select(columns.map((name) => `allowEntries.${name}` as const))
      .where('appId', '=', appId)
      .where('apps.userId', '=', userId)
      .orderBy('allowEntries.createdAt')
      .orderBy('allowEntries.id')
      .execute(),

  add: ({ appId, userId, type, value, label, max, now }) =>
    changeApp(db, {
      id: appId,
      userId,
      work: async (_, { query }) => {
        const own = await query
          .selectFrom('allowEntries')
          .select('value')
          .where('appId', '=', appId)
          .where('type', '=', type)
          .execute()
        if (own.some((entry) => entry.value === value)) return 'entryTaken' as const
        if (own.length >= max) return 'entriesFull' as const
        return query
          .insertInto('allowEntries')
          .values({
            ...toNewRow(allowEntryColumns, { id: createId('alw'), type, value, label, createdAt: now }),
            appId,
          })
          .returning(columns)
          .executeTakeFirstOrThrow()
      },
    }),

  edit: ({ id, appId, userId, label }) =>
    changeApp(db, {
      id: appId,
      userId,
      work: async (_, { query }) => {
        const row = await query
          .updateTable('allowEntries')
          .set({ label })
          .where('id', '=', id)
          .where('appId', '=', appId)
          .returning(columns)
          .executeTakeFirst()
        return row ?? ('notFound' as const)
      },
    }),

  remove: async ({ id, appId, userId }) => {
    const removed = await changeApp(db, {
      id: appId,
      userId,
      work: async (_, { query }) => {
        const own = query.deleteFrom('allowEntries').where('id', '=', id).where('appId', '=', appId)
        return (await changeRows(own)) > 0 ? true : ('notFound' as const)
      },
    })
    return removed === true
  },
})
