import { generateKeyPairSync } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createApiKey } from '../../src/lib/secrets/apiKey.ts'
import { createStoredKeys } from '../../src/auth/key/createStoredKeys.ts'
import type { LimitSource, StoredKeys, StoredKeysOptions } from '../../src/auth/key/createStoredKeys.ts'
import { hashApiKey } from '../../src/lib/secrets/hashApiKey.ts'
import { resolveLimits } from '../../src/auth/key/keyLimits.ts'
import { createJwtKeyId } from '../../src/auth/jwt/jwtKeyId.ts'
import type { Access } from '../../src/storage/access.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage, StorageOptions } from '../../src/storage/openStorage.ts'
import { StorageError } from '../../src/errors/storageError.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { addApiKey, addApp, addUser, details, granted, newKey, now } from '../storage/fill.ts'

const defaults = { perSecond: 100, burst: 1_000, perDay: 25_000, perMonth: null }
const open: StoredKeys[] = []
afterEach(async () => {
  for (const keys of open.splice(0)) await keys.close()
})

/** Creates stored keys that read the change feed only on `refresh`, and counts their queries for keys. */
const start = async (
  storage: StoredKeysOptions['storage'],
  options: Partial<StoredKeysOptions> = {},
): Promise<{ keys: StoredKeys; queries: () => number }> => {
  let count = 0
  const counted: StoredKeysOptions['storage'] = {
    ping: storage.ping,
    changes: storage.changes,
    findAccess: (hash) => {
      count += 1
      return storage.findAccess(hash)
    },
    findAccessByKid: (kid) => {
      count += 1
      return storage.findAccessByKid(kid)
    },
  }
  const keys = createStoredKeys({
    storage: counted,
    getLimits: ({ app, user }: LimitSource) => resolveLimits([app?.limits ?? null, user.limits], defaults),
    ...options,
  })
  open.push(keys)
  await keys.refresh().catch(() => {})
  return { keys, queries: () => count }
}

const addJwtKey = async (
  storage: Storage,
  { appId, userId, kid }: { appId: string; userId: string; kid: string },
): Promise<unknown> => {
  const publicPem = pem()
  const key = { kid, alg: 'EdDSA', publicPem, fingerprint: 'f', label: '' }
  return granted(await storage.jwtKeys.add({ appId, userId, key, max: 3, now }))
}

const pem = (): string => generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' }).toString()

describe.each(suiteDatabases)('stored keys on $name', (database) => {
  let options: StorageOptions
  let storage: Storage
  /** The same database, opened by another process. */
  let remote: Storage
  beforeAll(async () => {
    options = await database.create()
    storage = await openStorage(options)
    remote = await openStorage(options)
  })
  afterAll(async () => {
    await storage.close()
    await remote.close()
    await database.stop()
  })

  test('a record has everything that a request needs', async () => {
    const user = await addUser(storage)
    const { app, hash } = await addApp(storage, { userId: user.id })
    const { row, hash: apiHash } = await addApiKey(storage, { userId: user.id })
    const allow = { appId: app.id, userId: user.id, now }
    granted(await storage.allowList.add({ ...allow, type: 'ip', value: '203.0.113.0/24', label: 'office', max: 30 }))
    granted(await storage.allowList.add({ ...allow, type: 'method', value: 'eth_call', label: '', max: 30 }))
    const kid = createJwtKeyId()
    await addJwtKey(storage, { appId: app.id, userId: user.id, kid })
    granted(
      await storage.apps.edit({
        id: app.id,
        userId: user.id,
        details: { limits: { perDay: 7, perSecond: null }, requireJwt: true },
      }),
    )
    const { keys } = await start(storage)
    const record = await keys.find(hash)
    expect(record).toMatchObject({
      kind: 'app',
      networks: ['testnet', 'mainnet'],
      status: 'active',
      expiresAt: null,
      userId: user.id,
      appId: app.id,
      services: ['Node API'],
      jwt: { required: true },
      limits: { perSecond: null, burst: 1_000, perDay: 7, perMonth: null },
    })
    expect(record?.jwt?.policy.keys.has(kid)).toBe(true)
    expect(record?.allow?.rejectRequest({ ip: '198.51.100.1', origin: undefined, userAgent: undefined })?.reason).toBe(
      'ip_not_allowed',
    )
    expect(record?.allow?.rejectRequest({ ip: '203.0.113.9', origin: undefined, userAgent: undefined })).toBeUndefined()
    expect(record?.allow?.rejectCall({ method: 'eth_chainId', params: undefined })?.reason).toBe('method_not_allowed')
    expect(await keys.findByKid(kid)).toMatchObject({ id: record?.id, appId: app.id })
    const bare = await keys.find(apiHash)
    expect(bare).toMatchObject({ id: row.id, kind: 'apiKey', networks: ['testnet'], limits: defaults })
    expect([bare?.allow, bare?.jwt, bare?.appId, bare?.services]).toEqual([undefined, undefined, undefined, undefined])
  })

  test.each([
    '',
    'kid',
    `${'k'.repeat(21)}\0`,
    `${'k'.repeat(21)}\n`,
    `${'k'.repeat(22)}\n`,
    'k'.repeat(23),
    `${'k'.repeat(21)}é`,
  ])('a kid that the service cannot have created is unknown without a query: %j', async (kid) => {
    const { keys, queries } = await start(storage)
    expect(await keys.findByKid(kid)).toBeUndefined()
    expect(queries()).toBe(0)
    expect(await keys.findByKid('k'.repeat(22))).toBeUndefined()
    expect(queries()).toBe(1)
  })

  test('a key is read once, and again only after a change', async () => {
    const user = await addUser(storage)
    const { row, hash } = await addApiKey(storage, { userId: user.id })
    const other = await addApiKey(storage, { userId: user.id })
    const { keys, queries } = await start(storage)
    for (let round = 0; round < 5; round += 1) expect((await keys.find(hash))?.status).toBe('active')
    await keys.find(other.hash)
    expect(queries()).toBe(2)
    await storage.keys.revoke({ id: row.id, userId: user.id, now })
    keys.forget([{ kind: 'key', id: row.id }])
    expect((await keys.find(hash))?.status).toBe('revoked')
    await keys.find(other.hash)
    expect(queries()).toBe(3)
  })

  test('a changed config changes the limits of cached keys without a query', async () => {
    const user = await addUser(storage)
    const { hash } = await addApiKey(storage, { userId: user.id })
    const { app, hash: appHash } = await addApp(storage, { userId: user.id })
    granted(await storage.apps.edit({ id: app.id, userId: user.id, details: { ...details, limits: { perDay: 7 } } }))
    let perSecond = 1
    const { keys, queries } = await start(storage, {
      getLimits: (source) =>
        resolveLimits([source.app?.limits ?? null, source.user.limits], { ...defaults, perSecond }),
    })
    const getLimits = async (one: string) => (await keys.find(one))?.limits
    expect([await getLimits(hash), await getLimits(appHash)]).toMatchObject([
      { perSecond: 1, perDay: defaults.perDay },
      { perSecond: 1, perDay: 7 },
    ])
    const [before, count] = [await keys.find(hash), queries()]
    perSecond = 2
    expect(await getLimits(hash)).toMatchObject({ perSecond: 1 })
    keys.renewLimits()
    expect([await getLimits(hash), await getLimits(appHash)]).toMatchObject([
      { perSecond: 2, perDay: defaults.perDay },
      { perSecond: 2, perDay: 7 },
    ])
    expect(queries()).toBe(count)
    // A WebSocket is checked again if the record is another object.
    expect(await keys.find(hash)).not.toBe(before)
    expect(await keys.find(hash)).toEqual({ ...before, limits: { ...before?.limits, perSecond: 2 } })
    expect(keys.find(hash)).toBe(keys.find(hash))
  })

  test('a change by another process applies after the next read of the change feed', async () => {
    const user = await addUser(storage)
    const { row, hash } = await addApiKey(storage, { userId: user.id })
    const { keys } = await start(storage)
    expect((await keys.find(hash))?.status).toBe('active')
    await remote.keys.revoke({ id: row.id, userId: user.id, now })
    expect((await keys.find(hash))?.status).toBe('active')
    await keys.refresh()
    expect((await keys.find(hash))?.status).toBe('revoked')
  })

  test.each([1, 2])(
    'a key that is revoked after a failover which lost a change is rejected, also if it is one of %i changes since',
    async (changes) => {
      const user = await addUser(storage)
      const { row, hash } = await addApiKey(storage, { userId: user.id })
      const others = [await addApiKey(storage, { userId: user.id }), await addApiKey(storage, { userId: user.id })]
      const { keys } = await start(storage)
      await keys.refresh()
      expect((await keys.find(hash))?.status).toBe('active')
      const before = (await storage.db.query.selectFrom('revision').select('seq').executeTakeFirstOrThrow()).seq
      await remote.keys.revoke({ id: others[0]?.row.id ?? '', userId: user.id, now })
      await keys.refresh()
      // The new primary server does not have the last change, and counts on from the one before.
      await storage.db.query.updateTable('revision').set({ seq: before }).execute()
      await storage.db.query.deleteFrom('changes').where('seq', '>', before).execute()
      await remote.keys.revoke({ id: row.id, userId: user.id, now })
      if (changes === 2) await remote.keys.revoke({ id: others[1]?.row.id ?? '', userId: user.id, now })
      await keys.refresh()
      expect((await keys.find(hash))?.status).toBe('revoked')
    },
  )

  test('a change applies also while the database rejects writes, which is reported', async () => {
    const user = await addUser(storage)
    const { row, hash } = await addApiKey(storage, { userId: user.id })
    let rejects = false
    const { findAccess, findAccessByKid, changes } = storage
    const readOnly = new StorageError('the database failed', { fault: 'failed', code: '25006' })
    const ping = async (): Promise<string> => {
      if (rejects) throw readOnly
      return storage.ping()
    }
    const { keys } = await start({ findAccess, findAccessByKid, changes, ping })
    expect((await keys.find(hash))?.status).toBe('active')
    await remote.keys.revoke({ id: row.id, userId: user.id, now })
    rejects = true
    await expect(keys.refresh()).rejects.toBe(readOnly)
    expect((await keys.find(hash))?.status).toBe('revoked')
  })

  test('disabling a user disables all keys, and enabling the user restores them', async () => {
    const user = await addUser(storage)
    const { hash: appHash } = await addApp(storage, { userId: user.id })
    const { hash } = await addApiKey(storage, { userId: user.id })
    const { keys } = await start(storage)
    const states = async (): Promise<unknown> => [(await keys.find(appHash))?.status, (await keys.find(hash))?.status]
    expect(await states()).toEqual(['active', 'active'])
    await remote.users.setState(user.id, 'disabled')
    await keys.refresh()
    expect(await states()).toEqual(['disabled', 'disabled'])
    await remote.users.setState(user.id, 'active')
    await keys.refresh()
    expect(await states()).toEqual(['active', 'active'])
    await remote.users.remove(user.id)
    await keys.refresh()
    expect(await states()).toEqual([undefined, undefined])
  })

  test('after a rotation both keys work, each with its own expiry, and the one before no longer exists', async () => {
    const user = await addUser(storage)
    const { row, hash: first } = await addApiKey(storage, { userId: user.id })
    const { keys } = await start(storage)
    expect((await keys.find(first))?.expiresAt).toBeNull()
    const rotate = async (oldUntil: number): Promise<string> => {
      const { hash, stored } = newKey('testnet', { userId: user.id, id: row.id })
      granted(await storage.keys.rotate({ id: row.id, userId: user.id, key: stored, oldUntil, now }))
      await keys.refresh()
      return hash
    }
    const second = await rotate(now + 1_000)
    expect([(await keys.find(first))?.expiresAt, (await keys.find(second))?.expiresAt]).toEqual([now + 1_000, null])
    const third = await rotate(now + 2_000)
    expect([await keys.find(first), (await keys.find(second))?.expiresAt, (await keys.find(third))?.expiresAt]).toEqual(
      [undefined, now + 2_000, null],
    )
  })

  test("an app's settings apply to its key and to its tokens, but the expiry only to the key", async () => {
    const user = await addUser(storage)
    const { app, hash, stored } = await addApp(storage, { userId: user.id })
    const kid = createJwtKeyId()
    await addJwtKey(storage, { appId: app.id, userId: user.id, kid })
    const rotated = newKey('app', { userId: user.id, id: stored.id })
    granted(
      await storage.keys.rotate({
        id: stored.id,
        userId: user.id,
        key: rotated.stored,
        oldUntil: now + 5,
        expiresAt: now + 9,
        now,
      }),
    )
    const { keys } = await start(storage)
    expect([(await keys.find(hash))?.expiresAt, (await keys.find(rotated.hash))?.expiresAt]).toEqual([now + 5, now + 9])
    expect((await keys.findByKid(kid))?.expiresAt).toBeNull()
    granted(await remote.apps.edit({ id: app.id, userId: user.id, details: { ...details, services: ['Other'] } }))
    await keys.refresh()
    expect([(await keys.find(rotated.hash))?.services, (await keys.findByKid(kid))?.services]).toEqual([
      ['Other'],
      ['Other'],
    ])
  })

  test('an unknown key is cached for a while, and evicts no existing key', async () => {
    const user = await addUser(storage)
    const { hash } = await addApiKey(storage, { userId: user.id })
    let time = now
    const { keys, queries } = await start(storage, { maxEntries: 10, unknownForMs: 1_000, now: () => time })
    await keys.find(hash)
    const unknownHash = hashApiKey(createApiKey('testnet'))
    for (let round = 0; round < 5; round += 1) expect(await keys.find(unknownHash)).toBeUndefined()
    expect(await keys.findByKid('n'.repeat(22))).toBeUndefined()
    expect(queries()).toBe(3)
    for (let each = 0; each < 50; each += 1) await keys.find(hashApiKey(createApiKey('testnet')))
    expect(queries()).toBe(53)
    await keys.find(hash)
    expect([queries(), keys.size]).toEqual([53, 1])
    time += 1_000
    await keys.find(unknownHash)
    expect(queries()).toBe(54)
  })

  test('an unknown key is read again after a while, also if the clock is set back', async () => {
    let time = now + 86_400_000
    const { keys, queries } = await start(storage, { unknownForMs: 1_000, now: () => time })
    const hash = hashApiKey(createApiKey('testnet'))
    await keys.find(hash)
    time = now
    await keys.find(hash)
    expect(queries()).toBe(1)
    time += 1_000
    await keys.find(hash)
    expect(queries()).toBe(2)
  })
})

const access = (change: Partial<Access> = {}): Access => ({
  keyId: 'key_1',
  kind: 'testnet',
  version: 1,
  keyState: 'active',
  old: false,
  endsAt: null,
  recording: { recordDetails: false },
  confirm: { confirmNodes: 0, confirmHeader: false },
  networks: ['testnet'],
  user: { id: 'usr_1', state: 'active', limits: null, quotaOwner: 'usr_1' },
  app: null,
  ...change,
})

interface Pending {
  readonly resolve: (found: Access | undefined) => void
  readonly reject: (error: Error) => void
}

/** A storage whose queries the test completes. */
const createSlowStorage = () => {
  let seq = 0
  const pending: Pending[] = []
  const storage: StoredKeysOptions['storage'] = {
    findAccess: () => new Promise((resolve, reject) => pending.push({ resolve, reject })),
    findAccessByKid: () => undefined,
    ping: async () => String(seq),
    changes: { position: async () => String(seq), since: async () => ({ position: String(seq), changed: [] }) },
  }
  return { storage, pending, move: () => (seq += 1) }
}

describe('during a query', () => {
  test('further requests for the key share it', async () => {
    const { storage, pending } = createSlowStorage()
    const { keys, queries } = await start(storage)
    const found = [keys.find('h'), keys.find('h'), keys.find('h')].map(async (record) => record)
    expect(queries()).toBe(1)
    pending[0]?.resolve(access())
    expect((await Promise.all(found)).map((record) => record?.id)).toEqual(['key_1', 'key_1', 'key_1'])
    // Cached, so a plain value.
    expect(keys.find('h')).toMatchObject({ id: 'key_1' })
  })

  test('a change stops the sharing, and earlier results are not cached', async () => {
    const { storage, pending } = createSlowStorage()
    const { keys, queries } = await start(storage)
    const before = keys.find('h')
    keys.forget([{ kind: 'key', id: 'key_1' }])
    const after = keys.find('h')
    expect(queries()).toBe(2)
    pending[1]?.resolve(access({ keyState: 'revoked' }))
    expect((await after)?.status).toBe('revoked')
    pending[0]?.resolve(access())
    expect((await before)?.status).toBe('active')
    expect(keys.find('h')).toMatchObject({ status: 'revoked' })
  })

  test('a failure rejects all requests that share the query, and the next one queries again', async () => {
    const { storage, pending } = createSlowStorage()
    const { keys, queries } = await start(storage)
    const found = [keys.find('h'), keys.find('h')].map(async (record) => record)
    pending[0]?.reject(new Error('unreachable'))
    expect((await Promise.allSettled(found)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    void keys.find('h')
    expect(queries()).toBe(2)
    pending[1]?.resolve(undefined)
  })
})

describe('while the database is unreachable', () => {
  /** A storage that can fail. Its change feed has the changes made during the failure. */
  const createFailingStorage = () => {
    let unreachable = false
    let state: Access['keyState'] = 'active'
    let seq = 1
    const orThrow = <T>(value: T): T => {
      if (unreachable) throw new Error('the database is unreachable')
      return value
    }
    const storage: StoredKeysOptions['storage'] = {
      findAccess: (hash) => orThrow(hash === 'known' ? access({ keyState: state }) : undefined),
      findAccessByKid: () => orThrow(undefined),
      ping: async () => orThrow(String(seq)),
      changes: {
        position: async () => orThrow(String(seq)),
        since: async (last) =>
          orThrow({
            position: String(seq),
            changed: last === String(seq) ? [] : [{ kind: 'key' as const, id: 'key_1' }],
          }),
      },
    }
    return {
      storage,
      fail: () => (unreachable = true),
      recover: () => (unreachable = false),
      revoke: () => {
        state = 'revoked'
        seq += 1
      },
    }
  }

  test('cached keys work for staleKeysForMs, others cannot be checked, and changes apply after recovery', async () => {
    const database = createFailingStorage()
    let time = now
    const { keys } = await start(database.storage, { staleKeysForMs: 5_000, now: () => time })
    expect(keys.find('known')).toMatchObject({ status: 'active' })
    expect(keys.unreachableSince()).toBeUndefined()
    database.fail()
    database.revoke()
    time += 5_000
    await expect(keys.refresh()).rejects.toThrow('the database is unreachable')
    expect(keys.unreachableSince()).toBe(now)
    expect(keys.find('known')).toMatchObject({ status: 'active' })
    expect(() => keys.find('other')).toThrow('the database is unreachable')
    time += 1
    expect(() => keys.find('known')).toThrow('the database is unreachable')
    database.recover()
    await keys.refresh()
    expect(keys.unreachableSince()).toBeUndefined()
    expect(keys.find('known')).toMatchObject({ status: 'revoked' })
    expect(keys.find('other')).toBeUndefined()
  })

  test('cached keys work no longer than staleKeysForMs if the clock is set back', async () => {
    const database = createFailingStorage()
    let time = now + 86_400_000
    const { keys } = await start(database.storage, { staleKeysForMs: 5_000, now: () => time })
    expect(keys.find('known')).toMatchObject({ status: 'active' })
    database.fail()
    time = now
    expect(keys.find('known')).toMatchObject({ status: 'active' })
    time += 5_001
    expect(() => keys.find('known')).toThrow('the database is unreachable')
  })

  test('a service that starts during an outage finds its keys after recovery', async () => {
    const database = createFailingStorage()
    database.fail()
    const { keys } = await start(database.storage)
    expect(() => keys.find('known')).toThrow('the database is unreachable')
    database.recover()
    await keys.refresh()
    expect(keys.find('known')).toMatchObject({ status: 'active' })
  })
})

test('a key with invalid stored settings is rejected', async () => {
  const app = {
    id: 'app_1',
    services: ['Node API'],
    requireJwt: false,
    jwtAudience: null,
    jwtMaxLifetimeS: null,
    limits: null,
    allow: [{ id: 'alw_1', type: 'ip' as const, value: 'no ip' }],
    jwtKeys: [],
  }
  const { storage, pending } = createSlowStorage()
  const { keys } = await start(storage)
  const found = keys.find('h')
  pending[0]?.resolve(access({ kind: 'app', app }))
  await expect(found).rejects.toThrow('ips[0].value')
})
