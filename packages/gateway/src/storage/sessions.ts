import { listColumns } from './columns.ts'
import type { RecordOf } from './columns.ts'
import { toHashBytes } from './columnValues.ts'
import { inTransaction, lockRows } from './transaction.ts'
import { sessionColumns } from './tables.ts'
import { changeRows } from './countRows.ts'
import type { Db } from './tables.ts'

/** A login session. It has no expiry: callers decide when it ends. */
export type Session = RecordOf<typeof sessionColumns>

/** The sessions, stored by the SHA-256 (lower-case hex) of their token. */
export interface Sessions {
  /**
   * Creates a session.
   * @param session.password - If given, only if this still is the hash of the user's password and the user is active. So a login during a
   * password change does not survive it.
   * @returns The session, or `'notFound'` if there is no such user.
   */
  create(session: {
    hash: string
    userId: string
    password?: string
    ip?: string
    userAgent?: string
    /** @default null */
    factorAt?: number | null
    now: number
  }): Promise<Session | 'notFound'>
  find(hash: string): Promise<Session | undefined>
  /** Lists a user's sessions with their hashes, the newest first. */
  list(userId: string): Promise<readonly (Session & { readonly hash: string })[]>
  /** Records that it was used. @returns Whether the session still exists. */
  touch(hash: string, now: number): Promise<boolean>
  /** Records that it proved a second factor. @returns Whether the session still exists. */
  proveFactor(hash: string, now: number): Promise<boolean>
  /** @returns Whether the session existed. */
  end(hash: string): Promise<boolean>
  /** Ends a user's sessions, except one if given. @returns How many. */
  endAll(userId: string, options?: { except?: string }): Promise<number>
  /**
   * Deletes up to `limit` sessions that were created or last used too long ago. Call it again while it deletes that many.
   * @returns How many.
   */
  prune(options: { createdBefore: number; seenBefore: number; limit: number }): Promise<number>
}

const maxUserAgent = 200
/** A log-in ends the oldest session of a user beyond this many. */
const maxSessions = 100
const columns = listColumns(sessionColumns)

/** Creates the repository of sessions. */
export const createSessions = (db: Db): Sessions => {
  const { query } = db
  return {
    create: ({ hash, userId, password, ip, userAgent, factorAt = null, now }) =>
      inTransaction(db, async (transaction) => {
        const session = {
          userId,
          createdAt: now,
          seenAt: now,
          ip: ip ?? null,
          userAgent: userAgent?.slice(0, maxUserAgent) ?? null,
          factorAt,
        }
        let user = transaction.query.selectFrom('users').select('id').where('id', '=', userId)
        if (password !== undefined) user = user.where('password', '=', password).where('state', '=', 'active')
        if ((await lockRows(transaction, user).executeTakeFirst()) === undefined) return 'notFound'
        await transaction.query
          .insertInto('sessions')
          .values({ sha256: toHashBytes(hash), ...session })
          .execute()
        const newest = transaction.query
          .selectFrom('sessions')
          .select('sha256')
          .where('userId', '=', userId)
          .orderBy('createdAt', 'desc')
          .limit(maxSessions)
        await transaction.query
          .deleteFrom('sessions')
          .where('userId', '=', userId)
          .where('sha256', 'not in', newest)
          .where('sha256', '!=', toHashBytes(hash))
          .execute()
        return session
      }),
    find: (hash) =>
      query.selectFrom('sessions').select(columns).where('sha256', '=', toHashBytes(hash)).executeTakeFirst(),
    list: async (userId) => {
      const rows = await query
        .selectFrom('sessions')
        .select([...columns, 'sha256'])
        .where('userId', '=', userId)
        .orderBy('createdAt', 'desc')
        .limit(maxSessions)
        .execute()
      return rows.map(({ sha256, ...session }) => ({ ...session, hash: Buffer.from(sha256).toString('hex') }))
    },
    touch: async (hash, now) =>
      (await changeRows(query.updateTable('sessions').set({ seenAt: now }).where('sha256', '=', toHashBytes(hash)))) >
      0,
    proveFactor: async (hash, now) =>
      (await changeRows(query.updateTable('sessions').set({ factorAt: now }).where('sha256', '=', toHashBytes(hash)))) >
      0,
    end: async (hash) => (await changeRows(query.deleteFrom('sessions').where('sha256', '=', toHashBytes(hash)))) > 0,
    endAll: async (userId, { except } = {}) => {
      const all = query.deleteFrom('sessions').where('userId', '=', userId)
      return changeRows(except === undefined ? all : all.where('sha256', '!=', toHashBytes(except)))
    },
    prune: ({ createdBefore, seenBefore, limit }) => {
      const old = query
        .selectFrom('sessions')
        .select('sha256')
        .where((row) => row.or([row('createdAt', '<', createdBefore), row('seenAt', '<', seenBefore)]))
        .limit(limit)
      return changeRows(query.deleteFrom('sessions').where('sha256', 'in', old))
    },
  }
}
