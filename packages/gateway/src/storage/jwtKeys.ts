import { changeApp } from './changeApp.ts'
import type { Db } from './tables.ts'

/** A public key that verifies the JWTs of an app. */
export interface JwtKey {
  /** The key id in a token's header. Unique in the service. */
  readonly kid: string
  readonly alg: string
  readonly publicPem: string
  readonly fingerprint: string
  readonly label: string
  readonly createdAt: number
}

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

const columns = ['kid', 'alg', 'publicPem', 'fingerprint', 'label', 'createdAt'] as const

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

  add: ({ appId, userId, key: { kid, alg, publicPem, fingerprint, label }, max, now }) =>
    changeApp(db, {
      id: appId,
      userId,
      work: async (_, { query }) => {
        const own = await query.selectFrom('jwtKeys').select('fingerprint').where('appId', '=', appId).execute()
        if (own.some((key) => key.fingerprint === fingerprint)) return 'jwtKeyTaken' as const
        if (own.length >= max) return 'jwtKeysFull' as const
        const row = await query
          .insertInto('jwtKeys')
          .values({ kid, appId, alg, publicPem, fingerprint, label, createdAt: now })
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
        const { numDeletedRows } = await query
          .deleteFrom('jwtKeys')
          .where('kid', '=', kid)
          .where('appId', '=', appId)
          .executeTakeFirst()
        return numDeletedRows > 0n ? true : ('notFound' as const)
      },
    })
    return removed === true
  },
})
