import type { Selectable } from 'kysely'
import type { StoredKey } from '../lib/secrets/storeKey.ts'
import type { Network } from '../lib/network.ts'
import { changeApp } from './changeApp.ts'
import { recordChange } from './changes.ts'
import { fromRow, toRow } from './columns.ts'
import type { RecordOf } from './columns.ts'
import { toHashBytes } from './columnValues.ts'
import { listLimitGroup, lockLimitGroups } from './limitGroup.ts'
import { inTransaction, lockRows } from './transaction.ts'
import { toKeyRow } from './toKeyRow.ts'
import { keyColumns, keySettings } from './tables.ts'
import { countRows } from './countRows.ts'
import { createSealedSecrets } from './sealedSecrets.ts'
import type { SealedSecret, SealedSecrets } from './sealedSecrets.ts'
import type { Db, Tables } from './tables.ts'

/** A key of an app, or an API key. Contains nothing that can be used as a key. */
export interface Key extends RecordOf<typeof keyColumns> {
  /** Whether a sealed copy is stored, so that the key can be shown again. */
  readonly revealable: boolean
}

/** How many API keys a user may have. A constraint of the database enforces it. */
export const maxApiKeys = 4

/** An API key to create. */
interface NewApiKey {
  readonly userId: string
  readonly name: string
  readonly description: string
  readonly network: Network
  /** Created by `storeKey` for this user, of kind `testnet` for a test network, else `mainnet`. */
  readonly key: StoredKey & { readonly kind: 'testnet' | 'mainnet' }
  /** @default null: never */
  readonly expiresAt?: number | null
  readonly now: number
}

/** What replaces a key. */
interface Rotation {
  /** Created by `storeKey` for the same row, user and kind. */
  readonly key: StoredKey
  /** Until when the previous key works, but not beyond its own expiry; `null`: it stops working. */
  readonly oldUntil: number | null
  /** When the new key expires. @default the expiry of the previous key */
  readonly expiresAt?: number | null
  readonly now: number
}

/** The keys. A function that takes a `userId` only sees the keys of that user. An app's key is created with the app. */
export interface Keys extends SealedSecrets {
  /**
   * Creates an API key.
   * @returns The key; `'slotsFull'` if the user, and all accounts with the same limits, have four API keys that are not revoked; `'notFound'` if there
   * is no such user.
   */
  createApiKey(created: NewApiKey): Promise<Key | 'slotsFull' | 'notFound'>
  find(key: { id: string; userId: string }): Promise<Key | undefined>
  findByApp(app: { appId: string; userId: string }): Promise<Key | undefined>
  /** How many more API keys a user can create. */
  countFree(userId: string): Promise<number>
  /** Lists the keys of some of a user's apps. */
  listByApps(apps: { appIds: readonly string[]; userId: string }): Promise<readonly Key[]>
  /** Lists a user's API keys that are not revoked, the oldest first. */
  listApiKeys(userId: string): Promise<readonly Key[]>
  /** The ids of all of a user's keys: those of apps, and API keys, revoked ones included. */
  listIds(userId: string): Promise<readonly string[]>
  /** The number of API keys of all users that are not revoked. */
  countApiKeys(): Promise<number>
  /** The number of API keys that are not revoked, for each of these users. Users without any are omitted. */
  countApiKeysByUser(userIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /**
   * Changes the given settings only.
   * @param key.version - If given and the key has another version, nothing changes: `'versionMoved'`.
   * @param key.appVersion - The same, for the version of the key's app.
   */
  edit(key: {
    id: string
    userId: string
    version?: number
    appVersion?: number
    settings: Partial<RecordOf<typeof keySettings>>
  }): Promise<Key | 'revoked' | 'versionMoved' | 'notFound'>
  /** Ends the grace period of the previous key, if there is one. */
  dropOld(key: { id: string; userId: string }): Promise<Key | 'revoked' | 'notFound'>
  /**
   * Replaces a key. Only one previous key can have a grace period: rotating again ends that of an earlier one.
   * @returns The key; `'revoked'` if it is revoked; `'notFound'`.
   * @throws {TypeError} If the new key is for another row or of another kind.
   */
  rotate(rotation: { id: string; userId: string } & Rotation): Promise<Key | 'revoked' | 'notFound'>
  /** Revokes an API key and its previous key, and frees its slot. @returns Whether there was such a key that was not revoked. */
  revoke(key: { id: string; userId: string; now: number }): Promise<boolean>
  /** Finds the sealed copy, if one is stored. */
  findSealed(key: { id: string; userId: string }): Promise<SealedSecret | undefined>
}

const slots = [1, 2, 3, 4] as const

/** Finds the slots that API keys of some users take. */
export const findSlots = ({ query }: Db, userIds: readonly string[]) =>
  query
    .selectFrom('keys')
    .select(['userId', 'slot'])
    .where('userId', 'in', userIds)
    .where('slot', 'is not', null)
    .execute()

type KeyRow = Selectable<Tables['keys']>

const toKey = (row: KeyRow): Key => ({
  ...fromRow(keyColumns, row),
  revealable: row.sealed !== null,
})

const findRow = ({ query }: Db, { id, userId }: { id: string; userId: string }) =>
  query.selectFrom('keys').selectAll().where('id', '=', id).where('userId', '=', userId).executeTakeFirst()

/**
 * Changes a key and records the change for the caches: for an app's key, as a change of the app.
 * @param decide - Gets the key, and its app's version. Returns the columns to change, or why the key cannot be changed.
 */
const changeKey = <Rejected extends string>(
  db: Db,
  { id, userId }: { id: string; userId: string },
  decide: (key: KeyRow, appVersion?: number) => Partial<KeyRow> | Rejected,
): Promise<Key | Rejected | 'revoked' | 'notFound'> =>
  inTransaction(db, async (transaction) => {
    const { query } = transaction
    const change = async (appVersion?: number) => {
      // Read again with a lock: another transaction may have changed it.
      const locked = lockRows(transaction, query.selectFrom('keys').selectAll().where('id', '=', id))
      const key = await locked.executeTakeFirst()
      if (key === undefined) return 'notFound'
      if (key.state === 'revoked') return 'revoked'
      const values = decide(key, appVersion)
      if (typeof values === 'string') return values
      const changed = query
        .updateTable('keys')
        .set({ ...values, version: key.version + 1 })
        .where('id', '=', id)
      return toKey(await changed.returningAll().executeTakeFirstOrThrow())
    }
    const known = await findRow(transaction, { id, userId })
    if (known === undefined) return 'notFound'
    if (known.appId !== null)
      return changeApp(transaction, { id: known.appId, userId, work: ({ version }) => change(version - 1) })
    const result = await change()
    if (typeof result !== 'string') await recordChange(transaction, { kind: 'key', id })
    return result
  })

const createApiKey = async (
  transaction: Db,
  { userId, name, description, network, key, expiresAt = null, now }: NewApiKey,
): Promise<Key | 'slotsFull' | 'notFound'> => {
  const [userIds] = (await lockLimitGroups(transaction, [userId])) ?? []
  if (userIds === undefined) return 'notFound'
  const row = toKeyRow(key, { userId, network, name: name.trim(), description, createdAt: now, expiresAt })
  for (;;) {
    const used = await findSlots(transaction, userIds)
    const own = used.filter((taken) => taken.userId === userId)
    const slot = slots.find((free) => own.every((taken) => taken.slot !== free))
    if (slot === undefined || used.length >= maxApiKeys) return 'slotsFull'
    const created = await transaction.query
      .insertInto('keys')
      .values({ ...row, slot })
      .onConflict((conflict) => conflict.columns(['userId', 'slot']).doNothing())
      .returningAll()
      .executeTakeFirst()
    if (created !== undefined) return toKey(created)
    // An instance of the version before, which locks nothing, took that slot: try the next one.
  }
}

const getRotated = (
  before: KeyRow,
  { key, oldUntil, expiresAt = before.expiresAt, now }: Rotation,
): Partial<KeyRow> => {
  if (before.kind !== key.kind) throw new TypeError(`the new key must be of kind ${before.kind}, like the old key`)
  // A grace period never extends a key's life, and never revives an expired key.
  const until = oldUntil === null ? null : Math.min(oldUntil, before.expiresAt ?? oldUntil)
  const hasGrace = until !== null && until > now
  return {
    sha256: toHashBytes(key.hash),
    ending: key.ending,
    sealed: key.sealed,
    oldSha256: hasGrace ? before.sha256 : null,
    oldUntil: hasGrace ? until : null,
    rotatedAt: now,
    expiresAt,
  }
}

/** Creates the repository of keys. */
export const createKeys = (db: Db): Keys => {
  const { query } = db
  const selectByUser = (userId: string) => query.selectFrom('keys').selectAll().where('userId', '=', userId)

  return {
    createApiKey: (created) => inTransaction(db, (transaction) => createApiKey(transaction, created)),
    countFree: async (userId) =>
      Math.max(0, maxApiKeys - (await findSlots(db, await listLimitGroup(db, userId))).length),

    find: async (key) => {
      const row = await findRow(db, key)
      return row && toKey(row)
    },

    findByApp: async ({ appId, userId }) => {
      const row = await selectByUser(userId).where('appId', '=', appId).executeTakeFirst()
      return row && toKey(row)
    },

    listApiKeys: async (userId) => {
      const unrevoked = selectByUser(userId).where('slot', 'is not', null)
      return (await unrevoked.orderBy('createdAt').orderBy('slot').execute()).map(toKey)
    },

    listIds: async (userId) => {
      const rows = await query.selectFrom('keys').select('id').where('userId', '=', userId).execute()
      return rows.map(({ id }) => id)
    },

    listByApps: async ({ appIds, userId }) =>
      appIds.length === 0 ? [] : (await selectByUser(userId).where('appId', 'in', appIds).execute()).map(toKey),

    countApiKeys: () => countRows(query.selectFrom('keys').where('slot', 'is not', null)),

    countApiKeysByUser: async (userIds) => {
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

    edit: ({ version, appVersion, settings, ...key }) =>
      changeKey<'versionMoved'>(db, key, (before, currentAppVersion) =>
        (appVersion !== undefined && currentAppVersion !== appVersion) ||
        (version !== undefined && before.version !== version)
          ? 'versionMoved'
          : toRow(keySettings, { ...settings, name: settings.name?.trim() }),
      ),

    dropOld: (key) => changeKey<never>(db, key, () => ({ oldSha256: null, oldUntil: null })),

    rotate: async ({ id, userId, ...rotation }) => {
      if (rotation.key.id !== id) throw new TypeError('the new key was created for another row')
      return changeKey<never>(db, { id, userId }, (before) => getRotated(before, rotation))
    },

    revoke: async ({ now, ...key }) => {
      const ended = { slot: null, sealed: null, oldSha256: null, oldUntil: null, revokedAt: now }
      // An app's key is only removed with its app.
      const revoked = await changeKey<'notFound'>(db, key, ({ appId }) =>
        appId === null ? { state: 'revoked', ...ended } : 'notFound',
      )
      return typeof revoked !== 'string'
    },

    findSealed: async (key) => {
      const row = await findRow(db, key)
      return row === undefined || row.sealed === null
        ? undefined
        : { id: row.id, userId: row.userId, sealed: row.sealed }
    },

    ...createSealedSecrets(db, 'keys'),
  }
}
