import { hashBytes } from './hashBytes.ts'
import { holdRows } from './holdRows.ts'
import { inTransaction } from './inTransaction.ts'
import type { Db } from './tables.ts'

/** Somebody who is logged in. When it ends is decided by who reads it. */
export interface Session {
  readonly userId: string
  readonly createdAt: number
  /** When it was last used, as often as the service writes that down. */
  readonly seenAt: number
  readonly ip: string | null
  /** The browser's own name, cut to 200 characters. */
  readonly userAgent: string | null
}

/** The sessions, each under the SHA-256 (lower hex) of its token. */
export interface Sessions {
  /**
   * @param session.password - If given, only where this still is the hash of the user's password, and the user is active: who logs in
   * while the password is being changed must not stay.
   * @returns The session, or `'notFound'` where there is no such user.
   */
  create(session: {
    hash: string
    userId: string
    password?: string
    ip?: string
    userAgent?: string
    now: number
  }): Promise<Session | 'notFound'>
  find(hash: string): Promise<Session | undefined>
  /** Of one user, the newest first, each with its hash. */
  list(userId: string): Promise<readonly (Session & { readonly hash: string })[]>
  /** Notes its use. @returns Whether there still is such a session. */
  touch(hash: string, now: number): Promise<boolean>
  /** @returns Whether there was such a session. */
  end(hash: string): Promise<boolean>
  /** Ends a user's sessions, but for one if told so. @returns How many. */
  endAll(userId: string, options?: { except?: string }): Promise<number>
  /**
   * Deletes up to `limit` sessions that were made, or last used, too long ago: call it again while it deletes that many.
   * @returns How many.
   */
  prune(options: { createdBefore: number; seenBefore: number; limit: number }): Promise<number>
}

const maxUserAgent = 200
const columns = ['userId', 'createdAt', 'seenAt', 'ip', 'userAgent'] as const

/** Makes the repository of sessions. */
export const createSessions = (db: Db): Sessions => {
  const { query } = db
  return {
    create: ({ hash, userId, password, ip, userAgent, now }) =>
      inTransaction(db, async (transaction) => {
        const session = {
          userId,
          createdAt: now,
          seenAt: now,
          ip: ip ?? null,
          userAgent: userAgent?.slice(0, maxUserAgent) ?? null,
        }
        let user = transaction.query.selectFrom('users').select('id').where('id', '=', userId)
        if (password !== undefined) user = user.where('password', '=', password).where('state', '=', 'active')
        if ((await holdRows(transaction, user).executeTakeFirst()) === undefined) return 'notFound'
        await transaction.query
          .insertInto('sessions')
          .values({ sha256: hashBytes(hash), ...session })
          .execute()
        return session
      }),
    find: (hash) =>
      query.selectFrom('sessions').select(columns).where('sha256', '=', hashBytes(hash)).executeTakeFirst(),
    list: async (userId) => {
      const rows = await query
        .selectFrom('sessions')
        .select([...columns, 'sha256'])
        .where('userId', '=', userId)
        .orderBy('createdAt', 'desc')
        .execute()
      return rows.map(({ sha256, ...session }) => ({ ...session, hash: Buffer.from(sha256).toString('hex') }))
    },
    touch: async (hash, now) => {
      const { numUpdatedRows } = await query
        .updateTable('sessions')
        .set({ seenAt: now })
        .where('sha256', '=', hashBytes(hash))
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },
    end: async (hash) => {
      const { numDeletedRows } = await query
        .deleteFrom('sessions')
        .where('sha256', '=', hashBytes(hash))
        .executeTakeFirst()
      return numDeletedRows > 0n
    },
    endAll: async (userId, { except } = {}) => {
      const all = query.deleteFrom('sessions').where('userId', '=', userId)
      const { numDeletedRows } = await (
        except === undefined ? all : all.where('sha256', '!=', hashBytes(except))
      ).executeTakeFirst()
      return Number(numDeletedRows)
    },
    prune: async ({ createdBefore, seenBefore, limit }) => {
      const { numDeletedRows } = await query
        .deleteFrom('sessions')
        .where(
          'sha256',
          'in',
          query
            .selectFrom('sessions')
            .select('sha256')
            .where((row) => row.or([row('createdAt', '<', createdBefore), row('seenAt', '<', seenBefore)]))
            .limit(limit),
        )
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}
