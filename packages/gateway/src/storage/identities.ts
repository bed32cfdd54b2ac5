import { toHashBytes } from './columnValues.ts'
import { changeRows } from './countRows.ts'
import type { Db } from './tables.ts'

/** A user's account at an OpenID Connect provider. */
export interface Identity {
  readonly issuer: string
  /** The user's id at the issuer. */
  readonly subject: string
  readonly userId: string
  readonly createdAt: number
}

/** The users' accounts at OpenID Connect providers. */
export interface Identities {
  /** @returns Whether it was added: not if the identity belongs to an account, or the account has another one at this issuer. */
  add(identity: { issuer: string; subject: string; userId: string; now: number }): Promise<boolean>
  find(identity: Pick<Identity, 'issuer' | 'subject'>): Promise<Identity | undefined>
  /** Lists those of a user. */
  list(userId: string): Promise<readonly Identity[]>
  /** @returns Whether the user had one at this issuer. */
  remove(identity: { userId: string; issuer: string }): Promise<boolean>
  /**
   * Uses up a token: of a log-in at a provider, of one that waits for a second factor, or a challenge. Rows are added only for valid tokens.
   * @param token.hash - Its SHA-256 (lower-case hex).
   * @returns `false` if it was used before.
   */
  useToken(token: { hash: string; expiresAt: number }): Promise<boolean>
  /** Whether a token was used. */
  isUsed(hash: string): Promise<boolean>
  /** Deletes up to `limit` used tokens that have expired. @returns How many. */
  prune(options: { now: number; limit: number }): Promise<number>
}

/** Creates the repository of identities. */
export const createIdentities = ({ query }: Db): Identities => ({
  add: async ({ now, ...identity }) => {
    const { numInsertedOrUpdatedRows } = await query
      .insertInto('identities')
      .values({ ...identity, createdAt: now })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    return (numInsertedOrUpdatedRows ?? 0n) > 0n
  },
  find: ({ issuer, subject }) =>
    query
      .selectFrom('identities')
      .selectAll()
      .where('issuer', '=', issuer)
      .where('subject', '=', subject)
      .executeTakeFirst(),
  list: (userId) => query.selectFrom('identities').selectAll().where('userId', '=', userId).orderBy('issuer').execute(),
  remove: async ({ userId, issuer }) =>
    (await changeRows(query.deleteFrom('identities').where('userId', '=', userId).where('issuer', '=', issuer))) > 0,
  useToken: async ({ hash, expiresAt }) => {
    const { numInsertedOrUpdatedRows } = await query
      .insertInto('usedSignOns')
      .values({ sha256: toHashBytes(hash), expiresAt })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    return (numInsertedOrUpdatedRows ?? 0n) > 0n
  },
  isUsed: async (hash) =>
    (await query
      .selectFrom('usedSignOns')
      .select('sha256')
      .where('sha256', '=', toHashBytes(hash))
      .executeTakeFirst()) !== undefined,
  prune: async ({ now, limit }) => {
    const expired = query.selectFrom('usedSignOns').select('sha256').where('expiresAt', '<=', now).limit(limit)
    return changeRows(query.deleteFrom('usedSignOns').where('sha256', 'in', expired))
  },
})
