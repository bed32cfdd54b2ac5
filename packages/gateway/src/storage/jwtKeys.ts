import { changeApp } from './changeApp.ts'
import { listColumns, toNewRow } from './columns.ts'
import type { RecordOf } from './columns.ts'
import { changeRows } from './countRows.ts'
import { jwtKeyColumns } from './tables.ts'
import type { Db } from './tables.ts'

/** A public key that verifies the JWTs of an app. */
export type JwtKey = RecordOf<typeof jwtKeyColumns>

/** The JWT keys of apps. */
export interface JwtKeys {
  /** The oldest first. */
  list(app: { appId: string; userId: string }): Promise<readonly JwtKey[]>
  /**
   * Adds a key.
   * @param added.max - How many the app may have.
   * @returns The key; `'kidTaken'`; `'jwtKeyTaken'` if the app already has the same key; `'jwtKeysFull'`; `'notFound'` if the user has no such app.
   */
  add(added: {
    appId: string
    userId: string
    key: Omit<JwtKey, 'createdAt'>
    max: number
    now: number
  }): Promise<JwtKey | 'kidTaken' | 'jwtKeyTaken' | 'jwtKeysFull' | 'notFound'>
  /** @returns Whether the user had an app with this key. */
  remove(key: { kid: string; appId: string; userId: string }): Promise<boolean>
}

const columns = listColumns(jwtKeyColumns)

/** Creates the repository of JWT keys. */
export const createJwtKeys = (db: Db): JwtKeys => ({
  list: ({ appId, userId }) =>
    db.query
      .selectFrom('jwtKeys')
      .innerJoin('apps', 'apps.id', 'jwtKeys.appId')
      .select(columns.map((name) => `jwtKeys.${name}` as const))
      .where('appId', '=', appId)
      .where('apps.userId', '=', userId)
      .orderBy('jwtKeys.createdAt')
      .orderBy('jwtKeys.kid')
      .execute(),

  add: ({ appId, userId, key, max, now }) =>
    changeApp(db, {
      id: appId,
      userId,
      work: async (_, { query }) => {
        const own = await query.selectFrom('jwtKeys').select('fingerprint').where('appId', '=', appId).execute()
        if (own.some(({ fingerprint }) => fingerprint === key.fingerprint)) return 'jwtKeyTaken' as const
        if (own.length >= max) return 'jwtKeysFull' as const
        const row = await query
          .insertInto('jwtKeys')
          .values({ ...toNewRow(jwtKeyColumns, { ...key, createdAt: now }), appId })
          .onConflict((conflict) => conflict.column('kid').doNothing())
          .returning(columns)
          .executeTakeFirst()
        return row ?? ('kidTaken' as const)
      },
    }),

  remove: async ({ kid, appId, userId }) => {
    const removed = await changeApp(db, {
      id: appId,
      userId,
      work: async (_, { query }) => {
        const own = query.deleteFrom('jwtKeys').where('kid', '=', kid).where('appId', '=', appId)
        return (await changeRows(own)) > 0 ? true : ('notFound' as const)
      },
    })
    return removed === true
  },
})
