import type { Selectable } from 'kysely'
import type { ApiKeyKind } from '../lib/secrets/apiKey.ts'
import type { StoredKey } from '../lib/secrets/storeKey.ts'
import type { Network } from '../lib/network.ts'
import { changeApp } from './changeApp.ts'
import { recordChange } from './changes.ts'
import { hashBytes } from './hashBytes.ts'
import { holdRows } from './holdRows.ts'
import { inTransaction } from './inTransaction.ts'
import { keyRow } from './keyRow.ts'
import type { Db, Tables } from './tables.ts'

/** A key, of an app or on its own, without anything that could be used as one. */
export interface Key {
  readonly id: string
  readonly userId: string
  /** The app that it belongs to; `null` for an API key. */
  readonly appId: string | null
  readonly kind: ApiKeyKind
  /** Empty for an app's key. */
  readonly name: string
  readonly description: string
  readonly ending: string
  /** Whether a sealed copy is kept, by which it can be shown again. */
  readonly revealable: boolean
  /** Whether it was revoked. Whether it has expired is decided by who reads it, by `expiresAt`. */
  readonly state: 'active' | 'revoked'
  /** Until when the key before the last rotation works; `null` where there is none. */
  readonly oldUntil: number | null
  /** Moves with every change. */
  readonly version: number
  readonly createdAt: number
  readonly rotatedAt: number | null
  readonly revokedAt: number | null
  readonly expiresAt: number | null
}

/** A sealed copy, with what it is bound to. */
export interface SealedKey {
  readonly id: string
  readonly userId: string
  readonly sealed: Uint8Array
}

/** How many API keys a user may have. The database's own rules hold it. */
export const maxApiKeys = 4

/** The keys. Every function that takes a `userId` sees that user's keys alone. An app's first key is made with the app. */
export interface Keys {
  /**
   * Makes an API key.
   * @param made.key - Made by `storeKey` for this user, of kind `testnet` or `mainnet`.
   * @param made.expiresAt - @default null, for never
   * @returns The key; `'slotsFull'` where the user has four that are not revoked; `'notFound'` where there is no such user.
   */
  createApiKey(made: {
    userId: string
    name: string
    description: string
    key: StoredKey & { readonly kind: Network }
    expiresAt?: number | null
    now: number
  }): Promise<Key | 'slotsFull' | 'notFound'>
  find(key: { id: string; userId: string }): Promise<Key | undefined>
  findOfApp(app: { appId: string; userId: string }): Promise<Key | undefined>
  /** The keys of some of a user's apps. */
  listOfApps(apps: { appIds: readonly string[]; userId: string }): Promise<readonly Key[]>
  /** A user's API keys that are not revoked, the oldest first. */
  listApiKeys(userId: string): Promise<readonly Key[]>
  /** How many API keys there are that are not revoked, of all users. */
  countApiKeys(): Promise<number>
  /** How many API keys that are not revoked each of some users has; who has none is left out. */
  countApiKeysOf(userIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /**
   * Changes what is given and leaves the rest.
   * @param key.version - If given, nothing is changed but of this version: `'versionMoved'`.
   * @param key.expiresAt - `null`: never.
   */
  edit(key: {
    id: string
    userId: string
    version?: number
    name?: string
    description?: string
    expiresAt?: number | null
  }): Promise<Key | 'revoked' | 'versionMoved' | 'notFound'>
  /** Ends the grace of the key from before the last rotation, if there is one. */
  dropOld(key: { id: string; userId: string }): Promise<Key | 'revoked' | 'notFound'>
  /**
   * Puts a new key in the place of one. The one before the last is gone at once: there is at most one old key.
   * @param rotation.key - Made by `storeKey` for the same row, user and kind.
   * @param rotation.oldUntil - Until when the old key works, but no longer than until its own end; `null`: not at all.
   * @param rotation.expiresAt - When the new one expires; left as it was if not given.
   * @returns The key; `'revoked'` where it was; `'notFound'`.
   * @throws {TypeError} where the new key is of another row or kind.
   */
  rotate(rotation: {
    id: string
    userId: string
    key: StoredKey
    oldUntil: number | null
    expiresAt?: number | null
    now: number
  }): Promise<Key | 'revoked' | 'notFound'>
  /** Revokes an API key, its old one with it, and frees its place. @returns Whether there was such a key that was not revoked. */
  revoke(key: { id: string; userId: string; now: number }): Promise<boolean>
  /** The sealed copy, where one is kept. */
  findSealed(key: { id: string; userId: string }): Promise<SealedKey | undefined>
  /** Sealed copies of all users, by id: `limit` of them after `after`. */
  listSealed(page: { after?: string; limit: number }): Promise<readonly SealedKey[]>
  /** Puts one sealed copy in the place of another. @returns Whether the other was still there. */
  replaceSealed(key: { id: string; from: Uint8Array; to: Uint8Array }): Promise<boolean>
}

const slots = [1, 2, 3, 4] as const

const toKey = (row: Selectable<Tables['keys']>): Key => ({
  id: row.id,
  userId: row.userId,
  appId: row.appId,
  kind: row.kind,
  name: row.name,
  description: row.description,
  ending: row.ending,
  state: row.state,
  oldUntil: row.oldUntil,
  version: row.version,
  createdAt: row.createdAt,
  rotatedAt: row.rotatedAt,
  revokedAt: row.revokedAt,
  expiresAt: row.expiresAt,
  revealable: row.sealed !== null,
})

/** Makes the repository of keys. */
export const createKeys = (db: Db): Keys => {
  const { query } = db
  const rowOf = ({ query: within }: Db, { id, userId }: { id: string; userId: string }) =>
    within.selectFrom('keys').selectAll().where('id', '=', id).where('userId', '=', userId).executeTakeFirst()

  /** Changes a key with what its caches must learn: an app's by its app. */
  const change = <Rejected extends string>(
    { id, userId }: { id: string; userId: string },
    work: (key: Selectable<Tables['keys']>, transaction: Db) => Promise<Key | Rejected>,
  ): Promise<Key | Rejected | 'notFound'> =>
    inTransaction(db, async (transaction) => {
      const known = await rowOf(transaction, { id, userId })
      if (known === undefined) return 'notFound'
      if (known.appId !== null)
        return changeApp(transaction, {
          id: known.appId,
          userId,
          work: async (_app, within) => {
            const key = await rowOf(within, { id, userId })
            return key === undefined ? 'notFound' : work(key, within)
          },
        })
      // Read again and held: somebody may have changed it in between.
      const again = transaction.query.selectFrom('keys').selectAll().where('id', '=', id)
      const key = await holdRows(transaction, again).executeTakeFirst()
      const result = key === undefined ? 'notFound' : await work(key, transaction)
      if (typeof result !== 'string') await recordChange(transaction, { kind: 'key', id })
      return result
    })

  return {
    createApiKey: async ({ userId, name, description, key, expiresAt = null, now }) => {
      const user = await query.selectFrom('users').select('id').where('id', '=', userId).executeTakeFirst()
      if (user === undefined) return 'notFound'
      const row = { ...keyRow(key, { userId, now, expiresAt }), appId: null, name: name.trim(), description }
      for (;;) {
        const used = await query
          .selectFrom('keys')
          .select('slot')
          .where('userId', '=', userId)
          .where('slot', 'is not', null)
          .execute()
        const slot = slots.find((free) => used.every((taken) => taken.slot !== free))
        if (slot === undefined) return 'slotsFull'
        const made = await query
          .insertInto('keys')
          .values({ ...row, slot })
          .onConflict((conflict) => conflict.columns(['userId', 'slot']).doNothing())
          .returningAll()
          .executeTakeFirst()
        if (made !== undefined) return toKey(made)
        // Somebody else took that place since it was seen free: there is one less to try for.
      }
    },

    find: async (key) => {
      const row = await rowOf(db, key)
      return row && toKey(row)
    },

    findOfApp: async ({ appId, userId }) => {
      const row = await query
        .selectFrom('keys')
        .selectAll()
        .where('appId', '=', appId)
        .where('userId', '=', userId)
        .executeTakeFirst()
      return row && toKey(row)
    },

    listApiKeys: async (userId) => {
      const rows = await query
        .selectFrom('keys')
        .selectAll()
        .where('userId', '=', userId)
        .where('slot', 'is not', null)
        .orderBy('createdAt')
        .orderBy('slot')
        .execute()
      return rows.map(toKey)
    },

    listOfApps: async ({ appIds, userId }) => {
      if (appIds.length === 0) return []
      const rows = await query
        .selectFrom('keys')
        .selectAll()
        .where('userId', '=', userId)
        .where('appId', 'in', appIds)
        .execute()
      return rows.map(toKey)
    },

    countApiKeys: async () => {
      const row = await query
        .selectFrom('keys')
        .select(({ fn }) => fn.countAll<number>().as('total'))
        .where('slot', 'is not', null)
        .executeTakeFirstOrThrow()
      return row.total
    },

    countApiKeysOf: async (userIds) => {
      if (userIds.length === 0) return new Map()
      const rows = await query
        .selectFrom('keys')
        .select(({ fn }) => ['userId', fn.countAll<number>().as('total')])
        .where('userId', 'in', userIds)
        .where('slot', 'is not', null)
        .groupBy('userId')
        .execute()
      return new Map(rows.map(({ userId, total }) => [userId, total]))
    },

    edit: ({ id, userId, version, name, description, expiresAt }) =>
      change({ id, userId }, async (before, transaction) => {
        if (before.state === 'revoked') return 'revoked'
        if (version !== undefined && before.version !== version) return 'versionMoved'
        const row = await transaction.query
          .updateTable('keys')
          .set({
            name: name?.trim() ?? before.name,
            description: description ?? before.description,
            expiresAt: expiresAt === undefined ? before.expiresAt : expiresAt,
            version: before.version + 1,
          })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirstOrThrow()
        return toKey(row)
      }),

    dropOld: ({ id, userId }) =>
      change({ id, userId }, async (before, transaction) => {
        if (before.state === 'revoked') return 'revoked'
        const row = await transaction.query
          .updateTable('keys')
          .set({ oldSha256: null, oldUntil: null, version: before.version + 1 })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirstOrThrow()
        return toKey(row)
      }),

    rotate: async ({ id, userId, key, oldUntil, expiresAt, now }) => {
      if (key.id !== id) throw new TypeError('the new key was stored for another row')
      return change({ id, userId }, async (before, transaction) => {
        if (before.state === 'revoked') return 'revoked'
        if (before.kind !== key.kind) throw new TypeError(`the new key must be of kind ${before.kind}, as the old one`)
        // A grace makes no key work longer than it would have, and none that has ended work again.
        const until = oldUntil === null ? null : Math.min(oldUntil, before.expiresAt ?? oldUntil)
        const hasGrace = until !== null && until > now
        const row = await transaction.query
          .updateTable('keys')
          .set({
            sha256: hashBytes(key.hash),
            ending: key.ending,
            sealed: key.sealed,
            oldSha256: hasGrace ? before.sha256 : null,
            oldUntil: hasGrace ? until : null,
            rotatedAt: now,
            expiresAt: expiresAt === undefined ? before.expiresAt : expiresAt,
            version: before.version + 1,
          })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirstOrThrow()
        return toKey(row)
      })
    },

    revoke: async ({ id, userId, now }) => {
      const revoked = await change({ id, userId }, async (before, transaction) => {
        // An app's key lives and dies with its app.
        if (before.state === 'revoked' || before.appId !== null) return 'notFound'
        const row = await transaction.query
          .updateTable('keys')
          .set({
            state: 'revoked',
            slot: null,
            sealed: null,
            oldSha256: null,
            oldUntil: null,
            revokedAt: now,
            version: before.version + 1,
          })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirstOrThrow()
        return toKey(row)
      })
      return typeof revoked !== 'string'
    },

    findSealed: async (key) => {
      const row = await rowOf(db, key)
      return row === undefined || row.sealed === null
        ? undefined
        : { id: row.id, userId: row.userId, sealed: row.sealed }
    },

    listSealed: async ({ after = '', limit }) => {
      const rows = await query
        .selectFrom('keys')
        .select(['id', 'userId', 'sealed'])
        .where('id', '>', after)
        .where('sealed', 'is not', null)
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(({ id, userId, sealed }) => ({ id, userId, sealed: sealed ?? new Uint8Array() }))
    },

    replaceSealed: async ({ id, from, to }) => {
      const { numUpdatedRows } = await query
        .updateTable('keys')
        .set({ sealed: to })
        .where('id', '=', id)
        .where('sealed', '=', from)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },
  }
}
