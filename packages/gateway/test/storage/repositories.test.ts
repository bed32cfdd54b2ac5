import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createJwtKeyId } from '../../src/auth/jwt/jwtKeyId.ts'
import { createServerSecret } from '../../src/lib/secrets/serverSecret.ts'
import { openKey } from '../../src/lib/secrets/sealKey.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { databases } from './databases.ts'
import { addApiKey, addApp, addUser, details, granted, newKey, now } from './fill.ts'
import { useStorage } from './useStorage.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const jwtKey = (kid: string, fingerprint = kid) => ({
  kid,
  alg: 'ES256',
  publicPem: `-----BEGIN PUBLIC KEY-----\n${kid}`,
  fingerprint,
  label: 'ci',
})

describe.each(databases)('repositories on $name', (database) => {
  let storage: Storage
  useStorage(database, (opened) => (storage = opened))

  describe('users', () => {
    test('are found by id, and by email address ignoring case and spaces', async () => {
      const user = granted(await storage.users.create({ email: ' Grüße@Example.org ', password: '$argon2id$a', now }))
      expect(user).toEqual({
        id: expect.stringMatching(/^usr_/),
        email: 'Grüße@Example.org',
        password: '$argon2id$a',
        state: 'active',
        role: 'user',
        limits: null,
        createdAt: now,
        quotaOwner: user.id,
        emailVerifiedAt: null,
        hasSecondFactor: false,
      })
      expect(await storage.users.find(user.id)).toEqual(user)
      expect(await storage.users.findByEmail('GrüßE@example.ORG ')).toEqual(user)
      expect(await storage.users.findByEmail('GRÜSSE@example.ORG')).toBeUndefined()
      expect(await storage.users.findByEmail('other@example.org')).toBeUndefined()
    })

    test('are rejected if the email address is taken, ignoring case', async () => {
      await storage.users.create({ email: 'ann@example.org', password: 'x', now })
      expect(await storage.users.create({ email: 'ANN@Example.org', password: 'x', now })).toBe('emailTaken')
    })

    test('change password, state and limits', async () => {
      const { id } = await addUser(storage)
      expect(await storage.users.setPassword(id, '$argon2id$b')).toBe(true)
      expect(await storage.users.setState(id, 'disabled')).toBe(true)
      expect(await storage.users.setLimits(id, { quota: 100 })).toBe(true)
      expect(await storage.users.find(id)).toMatchObject({
        password: '$argon2id$b',
        state: 'disabled',
        limits: { quota: 100 },
      })
      expect(await storage.users.setState('usr_none', 'disabled')).toBe(false)
    })

    test('are listed page by page, each one once', async () => {
      const made = (await Promise.all(Array.from({ length: 5 }, () => addUser(storage)))).map(({ id }) => id)
      const seen: string[] = []
      for (let after = ''; ;) {
        const page = await storage.users.list({ after, limit: 2 })
        seen.push(...page.map(({ id }) => id))
        const last = page.at(-1)
        if (last === undefined) break
        after = last.id
      }
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen).toEqual(expect.arrayContaining(made))
    })

    test('are removed with everything except the audit log', async () => {
      const user = await addUser(storage)
      const { app, hash } = await addApp(storage, { userId: user.id })
      const apiKey = await addApiKey(storage, { userId: user.id })
      await storage.sessions.create({ hash: sha256('s'), userId: user.id, now })
      await storage.auditLog.add({
        at: now,
        userId: user.id,
        actor: user.id,
        action: 'account.delete',
        subject: null,
        ip: null,
        detail: null,
      })
      expect(await storage.users.remove(user.id)).toBe(true)
      expect(await storage.users.remove(user.id)).toBe(false)
      expect(await storage.users.find(user.id)).toBeUndefined()
      expect(await storage.apps.find({ id: app.id, userId: user.id })).toBeUndefined()
      expect(await storage.findAccess(hash)).toBeUndefined()
      expect(await storage.findAccess(apiKey.hash)).toBeUndefined()
      expect(await storage.sessions.find(sha256('s'))).toBeUndefined()
      expect(await storage.auditLog.list({ userId: user.id, limit: 10 })).toHaveLength(1)
    })
  })

  describe('sessions', () => {
    test('are found by the hash of their token until they end', async () => {
      const { id: userId } = await addUser(storage)
      const hash = sha256('token')
      const userAgent = 'x'.repeat(300)
      expect(await storage.sessions.create({ hash, userId, ip: '::1', userAgent, now })).toEqual({
        userId,
        createdAt: now,
        seenAt: now,
        ip: '::1',
        userAgent: 'x'.repeat(200),
        factorAt: null,
      })
      expect(await storage.sessions.touch(hash, now + 5)).toBe(true)
      expect(await storage.sessions.find(hash)).toMatchObject({ userId, seenAt: now + 5 })
      expect(await storage.sessions.list(userId)).toEqual([expect.objectContaining({ hash, seenAt: now + 5 })])
      expect(await storage.sessions.end(hash)).toBe(true)
      expect(await storage.sessions.end(hash)).toBe(false)
      expect(await storage.sessions.touch(hash, now)).toBe(false)
      expect(await storage.sessions.find(hash)).toBeUndefined()
    })

    test('of a user can all be ended except one', async () => {
      const { id: userId } = await addUser(storage)
      const hashes = ['a', 'b', 'c'].map((name) => sha256(userId + name))
      for (const hash of hashes) await storage.sessions.create({ hash, userId, now })
      expect(await storage.sessions.endAll(userId, { except: hashes[1] ?? '' })).toBe(2)
      expect((await storage.sessions.list(userId)).map(({ hash }) => hash)).toEqual([hashes[1]])
      expect(await storage.sessions.endAll(userId)).toBe(1)
    })

    test('are pruned in batches when too old or idle', async () => {
      const { id: userId } = await addUser(storage)
      const ages = [100, 90, 80, 5, 0]
      for (const age of ages) await storage.sessions.create({ hash: sha256(`${userId}${age}`), userId, now: now - age })
      await storage.sessions.touch(sha256(`${userId}80`), now)
      const prune = () => storage.sessions.prune({ createdBefore: now - 85, seenBefore: now - 4, limit: 2 })
      expect([await prune(), await prune(), await prune()]).toEqual([2, 1, 0])
      expect((await storage.sessions.list(userId)).map(({ hash }) => hash).sort()).toEqual(
        [0, 80].map((age) => sha256(`${userId}${age}`)).sort(),
      )
    })

    test('are rejected without a user, and an error about a token in place of its hash does not contain it', async () => {
      expect(await storage.sessions.create({ hash: sha256('x'), userId: 'usr_none', now })).toBe('notFound')
      await expect(async () => storage.sessions.find('my-token')).rejects.toThrow(
        new TypeError('hash must be a SHA-256: 64 lower-case hex digits'),
      )
    })
  })

  describe('apps', () => {
    test('are created with their key, and only visible to their user', async () => {
      const [ann, bob] = [await addUser(storage), await addUser(storage)]
      const { app, stored } = await addApp(storage, { userId: ann.id })
      expect(app).toEqual({ ...details, id: app.id, userId: ann.id, version: 1, createdAt: now })
      expect(await storage.apps.list(ann.id)).toEqual([app])
      expect(await storage.keys.findByApp({ appId: app.id, userId: ann.id })).toMatchObject({
        id: stored.id,
        kind: 'app',
        appId: app.id,
        ending: stored.ending,
        state: 'active',
        revealable: false,
      })
      expect(await storage.apps.list(bob.id)).toEqual([])
      expect(await storage.apps.find({ id: app.id, userId: bob.id })).toBeUndefined()
      expect(await storage.apps.edit({ id: app.id, userId: bob.id, details: { name: 'mine' } })).toBe('notFound')
      expect(await storage.apps.remove({ id: app.id, userId: bob.id, now })).toBe(false)
      expect(await storage.keys.findByApp({ appId: app.id, userId: bob.id })).toBeUndefined()
    })

    test('have names that are unique per user, ignoring case', async () => {
      const [ann, bob] = [await addUser(storage), await addUser(storage)]
      const { app } = await addApp(storage, { userId: ann.id, name: 'Straße' })
      await addApp(storage, { userId: bob.id, name: 'Straße' })
      const again = { userId: ann.id, key: newKey('app', { userId: ann.id }).stored, max: 20, now }
      expect(await storage.apps.create({ ...again, details: { ...details, name: ' STRASSE' } })).toBe('nameTaken')
      const other = await addApp(storage, { userId: ann.id, name: 'Other' })
      const rename = (name: string) => storage.apps.edit({ id: other.app.id, userId: ann.id, details: { name } })
      expect(await rename('straße')).toBe('nameTaken')
      expect(await storage.apps.find({ id: other.app.id, userId: ann.id })).toEqual(other.app)
      expect(await rename('OTHER')).toMatchObject({ name: 'OTHER', version: 2 })
      expect(await storage.apps.find({ id: app.id, userId: ann.id })).toMatchObject({ version: 1 })
    })

    test('are limited in number, and need a user', async () => {
      const { id: userId } = await addUser(storage)
      const make = (name: string, owner: string) =>
        storage.apps.create({
          userId: owner,
          details: { ...details, name },
          key: newKey('app', { userId: owner }).stored,
          max: 2,
          now,
        })
      await make('1', userId)
      await make('2', userId)
      expect(await make('3', userId)).toBe('appsFull')
      expect(await make('1', 'usr_none')).toBe('notFound')
    })

    test('that are removed count until the end of the UTC day, so that removing an app resets no daily limit', async () => {
      const [{ id: userId }, bob] = [await addUser(storage), await addUser(storage)]
      const midnight = Math.ceil((now + 1) / 86_400_000) * 86_400_000
      const make = (name: string, at: number, owner = userId) =>
        storage.apps.create({
          userId: owner,
          details: { ...details, name },
          key: newKey('app', { userId: owner }).stored,
          max: 2,
          now: at,
        })
      const { id } = granted(await make('1', now))
      const second = granted(await make('2', now))
      expect(await storage.apps.remove({ id, userId, now })).toBe(true)
      expect(await make('3', now)).toBe('appsFull')
      expect(await make('1', now, bob.id)).toMatchObject({ userId: bob.id })
      expect(await make('3', midnight - 1)).toBe('appsFull')
      granted(await make('3', midnight))
      expect(await storage.apps.remove({ id: second.id, userId, now: midnight })).toBe(true)
      expect(await make('4', midnight)).toBe('appsFull')
      granted(await make('4', midnight + 86_400_000))
      // Removing a user also removes the removed apps.
      expect(await storage.users.remove(userId)).toBe(true)
    })

    test('change only the given details', async () => {
      const { id: userId } = await addUser(storage)
      const { app } = await addApp(storage, { userId })
      const changes = {
        networks: ['mainnet'],
        requireJwt: true,
        jwtAudience: 'a',
        services: [],
        limits: { perSecond: 5 },
      } as const
      const edited = await storage.apps.edit({ id: app.id, userId, details: changes })
      expect(edited).toEqual({ ...app, ...changes, version: 2 })
      expect(await storage.apps.find({ id: app.id, userId })).toEqual(edited)
    })

    test('are removed with their key, and free their name', async () => {
      const { id: userId } = await addUser(storage)
      const { app, hash } = await addApp(storage, { userId })
      expect(await storage.findAccess(hash)).toBeDefined()
      expect(await storage.apps.remove({ id: app.id, userId, now })).toBe(true)
      expect(await storage.findAccess(hash)).toBeUndefined()
      await addApp(storage, { userId })
    })
  })

  describe('allow lists', () => {
    test('have each value once per type, are limited in number, and increase the version', async () => {
      const { id: userId } = await addUser(storage)
      const { app } = await addApp(storage, { userId })
      const of = { appId: app.id, userId }
      const add = (type: 'origin' | 'method', value: string) =>
        storage.allowList.add({ ...of, type, value, label: 'l', max: 2, now })
      const first = granted(await add('origin', 'https://a.example'))
      expect(first).toEqual({
        id: first.id,
        type: 'origin',
        value: 'https://a.example',
        label: 'l',
        createdAt: now,
        usedAt: null,
      })
      expect(await add('origin', 'https://a.example')).toBe('entryTaken')
      granted(await add('origin', 'https://b.example'))
      expect(await add('origin', 'https://c.example')).toBe('entriesFull')
      granted(await add('method', 'eth_call'))
      expect(await storage.allowList.list(of)).toHaveLength(3)
      expect((await storage.apps.find({ id: app.id, userId }))?.version).toBe(4)
      expect(await storage.allowList.remove({ id: first.id, ...of })).toBe(true)
      expect(await storage.allowList.remove({ id: first.id, ...of })).toBe(false)
      expect((await storage.apps.find({ id: app.id, userId }))?.version).toBe(5)
      const bob = await addUser(storage)
      expect(await storage.allowList.list({ ...of, userId: bob.id })).toEqual([])
      expect(
        await storage.allowList.add({ ...of, userId: bob.id, type: 'ip', value: '::/0', label: '', max: 9, now }),
      ).toBe('notFound')
    })
  })

  describe('JWT keys', () => {
    test('have a unique kid, and are added to an app once', async () => {
      const { id: userId } = await addUser(storage)
      const [one, two] = [
        await addApp(storage, { userId, name: 'one' }),
        await addApp(storage, { userId, name: 'two' }),
      ]
      const add = (appId: string, key: ReturnType<typeof jwtKey>) =>
        storage.jwtKeys.add({ appId, userId, key, max: 2, now })
      const [a, b, c] = [createJwtKeyId(), createJwtKeyId(), createJwtKeyId()]
      expect(await add(one.app.id, jwtKey(a))).toEqual({ ...jwtKey(a), createdAt: now })
      expect(await add(two.app.id, jwtKey(a))).toBe('kidTaken')
      expect(await add(one.app.id, jwtKey(b, a))).toBe('jwtKeyTaken')
      granted(await add(one.app.id, jwtKey(b)))
      expect(await add(one.app.id, jwtKey(c))).toBe('jwtKeysFull')
      expect((await storage.jwtKeys.list({ appId: one.app.id, userId })).map(({ kid }) => kid).sort()).toEqual(
        [a, b].sort(),
      )
      expect((await storage.apps.find({ id: one.app.id, userId }))?.version).toBe(3)
      expect((await storage.apps.find({ id: two.app.id, userId }))?.version).toBe(1)
      expect(await storage.findAccessByKid(a)).toMatchObject({ app: { id: one.app.id } })
      expect(await storage.jwtKeys.remove({ kid: a, appId: two.app.id, userId })).toBe(false)
      expect(await storage.jwtKeys.remove({ kid: a, appId: one.app.id, userId })).toBe(true)
      expect(await storage.findAccessByKid(a)).toBeUndefined()
    })
  })

  describe('API keys', () => {
    test('are limited to four per user, and a revoked one frees its slot', async () => {
      const { id: userId } = await addUser(storage)
      const made = [
        await addApiKey(storage, { userId }),
        await addApiKey(storage, { userId }),
        await addApiKey(storage, { userId }),
        await addApiKey(storage, { userId }),
      ]
      const more = () =>
        storage.keys.createApiKey({
          network: 'mainnet',
          userId,
          name: 'k',
          description: '',
          key: newKey('mainnet', { userId }).stored,
          now,
        })
      expect(await more()).toBe('slotsFull')
      const second = granted(made[1]?.row)
      expect(await storage.keys.revoke({ id: second.id, userId, now })).toBe(true)
      expect(await storage.keys.revoke({ id: second.id, userId, now })).toBe(false)
      expect(await more()).toMatchObject({ kind: 'mainnet', state: 'active' })
      expect(await more()).toBe('slotsFull')
      expect(await storage.keys.listApiKeys(userId)).toHaveLength(4)
      expect(await storage.keys.find({ id: second.id, userId })).toMatchObject({ state: 'revoked', revokedAt: now })
      expect(
        await storage.keys.createApiKey({
          network: 'mainnet',
          userId: 'usr_none',
          name: 'k',
          description: '',
          key: newKey('mainnet', { userId }).stored,
          now,
        }),
      ).toBe('notFound')
    })

    test('can be edited, and are only visible to their user', async () => {
      const [ann, bob] = [await addUser(storage), await addUser(storage)]
      const { row } = await addApiKey(storage, { userId: ann.id })
      expect(await storage.keys.edit({ id: row.id, userId: ann.id, settings: { name: 'New' } })).toEqual({
        ...row,
        name: 'New',
        version: 2,
      })
      expect(await storage.keys.edit({ id: row.id, userId: ann.id, settings: { description: 'd' } })).toMatchObject({
        name: 'New',
        description: 'd',
      })
      expect(await storage.keys.edit({ id: row.id, userId: bob.id, settings: { name: 'Mine' } })).toBe('notFound')
      expect(await storage.keys.revoke({ id: row.id, userId: bob.id, now })).toBe(false)
      expect(await storage.keys.find({ id: row.id, userId: bob.id })).toBeUndefined()
    })

    test('keep one previous key when rotated, with its own expiry', async () => {
      const { id: userId } = await addUser(storage)
      const { row, hash } = await addApiKey(storage, { userId })
      const rotate = (oldUntil: number | null, expiresAt?: number) => {
        const next = newKey('testnet', { userId, id: row.id })
        const rotation = { id: row.id, userId, key: next.stored, oldUntil, now: now + 1 }
        return storage.keys
          .rotate(expiresAt === undefined ? rotation : { ...rotation, expiresAt })
          .then((result) => ({ result, hash: next.hash }))
      }
      const second = await rotate(now + 1_000)
      expect(second.result).toMatchObject({ id: row.id, oldUntil: now + 1_000, rotatedAt: now + 1, version: 2 })
      expect(await storage.findAccess(hash)).toMatchObject({ keyId: row.id, old: true, endsAt: now + 1_000 })
      expect(await storage.findAccess(second.hash)).toMatchObject({ keyId: row.id, old: false, endsAt: null })
      const third = await rotate(now + 9_000, now + 5_000)
      expect(await storage.findAccess(hash)).toBeUndefined()
      // A previous key expires with the new one.
      expect(await storage.findAccess(second.hash)).toMatchObject({ old: true, endsAt: now + 5_000 })
      expect(await storage.findAccess(third.hash)).toMatchObject({ old: false, endsAt: now + 5_000 })
      await rotate(null)
      expect(await storage.findAccess(third.hash)).toBeUndefined()
      expect(await storage.keys.listApiKeys(userId)).toHaveLength(1)
    })

    test('that expire get no more time from a grace period, and expired ones do not work again', async () => {
      const { id: userId } = await addUser(storage)
      const { row, hash } = await addApiKey(storage, { userId })
      const rotate = async (rotation: { oldUntil: number; expiresAt: number | null; now: number }) => {
        const next = newKey('testnet', { userId, id: row.id })
        const result = await storage.keys.rotate({ id: row.id, userId, key: next.stored, ...rotation })
        return { result, hash: next.hash }
      }
      await storage.keys.edit({ id: row.id, userId, settings: { expiresAt: now + 100 } })
      const second = await rotate({ oldUntil: now + 9_000, expiresAt: now + 200, now })
      expect(second.result).toMatchObject({ oldUntil: now + 100 })
      expect(await storage.findAccess(hash)).toMatchObject({ old: true, endsAt: now + 100 })
      // It stops working at its expiry.
      const third = await rotate({ oldUntil: now + 9_000, expiresAt: null, now: now + 200 })
      expect(third.result).toMatchObject({ oldUntil: null })
      expect(await storage.findAccess(second.hash)).toBeUndefined()
      const fourth = await rotate({ oldUntil: now + 9_000, expiresAt: null, now: now + 300 })
      expect(fourth.result).toMatchObject({ oldUntil: now + 9_000 })
      expect(await storage.findAccess(third.hash)).toMatchObject({ old: true, endsAt: now + 9_000 })
    })

    test('that were revoked are found as revoked, and cannot be rotated or shown', async () => {
      const { id: userId } = await addUser(storage)
      const secret = createServerSecret('s'.repeat(32))
      const { row, hash } = await addApiKey(storage, { userId, secret })
      const next = newKey('testnet', { userId, id: row.id, secret })
      await storage.keys.rotate({ id: row.id, userId, key: next.stored, oldUntil: now + 1_000, now })
      expect(await storage.keys.revoke({ id: row.id, userId, now })).toBe(true)
      expect(await storage.findAccess(next.hash)).toMatchObject({ keyState: 'revoked' })
      expect(await storage.findAccess(hash)).toBeUndefined()
      expect(await storage.keys.findSealed({ id: row.id, userId })).toBeUndefined()
      const again = newKey('testnet', { userId, id: row.id })
      expect(await storage.keys.rotate({ id: row.id, userId, key: again.stored, oldUntil: null, now })).toBe('revoked')
    })

    test('cannot be rotated to a key of another row or kind', async () => {
      const { id: userId } = await addUser(storage)
      const { row, hash } = await addApiKey(storage, { userId })
      const rotate = (key: ReturnType<typeof newKey>['stored']) =>
        storage.keys.rotate({ id: row.id, userId, key, oldUntil: null, now })
      await expect(rotate(newKey('testnet', { userId }).stored)).rejects.toThrow('another row')
      await expect(rotate(newKey('mainnet', { userId, id: row.id }).stored)).rejects.toThrow('of kind testnet')
      expect(await storage.findAccess(hash)).toMatchObject({ version: 1 })
    })

    test('have a sealed copy that can be opened for their row and user', async () => {
      const { id: userId } = await addUser(storage)
      const secret = createServerSecret('s'.repeat(32))
      const { row, key } = await addApiKey(storage, { userId, secret })
      expect(row.revealable).toBe(true)
      const { sealed, ...owner } = granted(await storage.keys.findSealed({ id: row.id, userId }))
      expect(openKey(sealed, owner, [secret])).toBe(key)
    })
  })

  describe('findAccess', () => {
    test("returns everything about an app's key", async () => {
      const { id: userId } = await addUser(storage)
      const { app, hash, stored } = await addApp(storage, { userId })
      await storage.apps.edit({
        id: app.id,
        userId,
        details: { networks: ['mainnet'], requireJwt: true, jwtMaxLifetimeS: 60, limits: { perDay: null } },
      })
      const kid = createJwtKeyId()
      const allowed = [
        { type: 'ip', value: '10.0.0.0/8' },
        { type: 'origin', value: 'https://a.example' },
      ] as const
      for (const entry of allowed)
        await storage.allowList.add({ appId: app.id, userId, ...entry, label: 'x', max: 30, now })
      await storage.jwtKeys.add({ appId: app.id, userId, key: jwtKey(kid), max: 3, now })
      await storage.users.setLimits(userId, { quota: 7 })
      const access = await storage.findAccess(hash)
      expect(access).toEqual({
        keyId: stored.id,
        kind: 'app',
        version: 5,
        keyState: 'active',
        old: false,
        recording: { recordDetails: false },
        confirm: { confirmNodes: 0, confirmHeader: false },
        endsAt: null,
        networks: ['mainnet'],
        user: { id: userId, state: 'active', limits: { quota: 7 }, quotaOwner: userId },
        app: {
          id: app.id,
          services: ['Node API'],
          requireJwt: true,
          jwtAudience: null,
          jwtMaxLifetimeS: 60,
          limits: { perDay: null },
          allow: expect.arrayContaining(
            allowed.map((entry) => ({ id: expect.stringMatching(/^alw_/) as unknown, ...entry })),
          ),
          jwtKeys: [{ kid, alg: 'ES256', publicPem: jwtKey(kid).publicPem }],
        },
      })
      expect(access?.app?.allow).toHaveLength(2)
      expect(await storage.findAccessByKid(kid)).toEqual(access)
    })

    test("increases an app's version when its key is rotated, and finds the previous key", async () => {
      const { id: userId } = await addUser(storage)
      const { app, hash, stored } = await addApp(storage, { userId })
      const next = newKey('app', { userId, id: stored.id })
      granted(await storage.keys.rotate({ id: stored.id, userId, key: next.stored, oldUntil: now + 50, now }))
      expect((await storage.apps.find({ id: app.id, userId }))?.version).toBe(2)
      expect(await storage.findAccess(hash)).toMatchObject({ old: true, endsAt: now + 50, version: 2 })
      expect(await storage.findAccess(next.hash)).toMatchObject({ old: false, endsAt: null, version: 2 })
      expect(await storage.keys.revoke({ id: stored.id, userId, now })).toBe(false)
    })

    test('returns everything about an API key, and whether its user is disabled', async () => {
      const { id: userId } = await addUser(storage)
      const { row, hash } = await addApiKey(storage, { userId })
      await storage.users.setState(userId, 'disabled')
      expect(await storage.findAccess(hash)).toEqual({
        keyId: row.id,
        kind: 'testnet',
        version: 1,
        keyState: 'active',
        old: false,
        recording: { recordDetails: false },
        confirm: { confirmNodes: 0, confirmHeader: false },
        endsAt: null,
        networks: ['testnet'],
        user: { id: userId, state: 'disabled', limits: null, quotaOwner: userId },
        app: null,
      })
    })

    test('finds nothing for an unknown hash, and rejects an invalid hash', async () => {
      expect(await storage.findAccess(sha256('nobody'))).toBeUndefined()
      expect(await storage.findAccessByKid('kid_none')).toBeUndefined()
      await expect(async () => storage.findAccess("' or 1 = 1")).rejects.toThrow('hash must be a SHA-256')
    })
  })

  describe('access tokens', () => {
    test('are found by their hash, listed and removed', async () => {
      const [ann, bob] = [await addUser(storage), await addUser(storage)]
      const hash = sha256(`krp_${ann.id}`)
      const token = granted(
        await storage.accessTokens.create({
          userId: ann.id,
          hash,
          scopes: ['apps:read'],
          label: 'ci',
          expiresAt: now + 9,
          now,
        }),
      )
      expect(token).toMatchObject({ userId: ann.id, scopes: ['apps:read'], expiresAt: now + 9, seenAt: null })
      await storage.accessTokens.touch(token.id, now + 3)
      expect(await storage.accessTokens.find(hash)).toEqual({ ...token, seenAt: now + 3 })
      expect(await storage.accessTokens.list({ userId: bob.id, memberId: null })).toEqual([])
      expect(await storage.accessTokens.remove({ id: token.id, userId: bob.id, memberId: null })).toBe(false)
      expect(await storage.accessTokens.remove({ id: token.id, userId: ann.id, memberId: null })).toBe(true)
      expect(await storage.accessTokens.find(hash)).toBeUndefined()
    })
  })

  describe('the audit log', () => {
    test('lists the newest entries first, by account, page by page', async () => {
      const { id: userId } = await addUser(storage)
      const entry = { at: now, userId, actor: userId, subject: 'key_1', ip: '::1', detail: { grace: 5 } }
      for (const action of ['a', 'b', 'c']) await storage.auditLog.add({ ...entry, action })
      await storage.auditLog.add({ ...entry, userId: null, action: 'd', detail: null })
      const [newest, next] = await storage.auditLog.list({ userId, limit: 2 })
      expect([newest, next]).toEqual([
        { ...entry, id: newest?.id, action: 'c' },
        { ...entry, id: next?.id, action: 'b' },
      ])
      expect(await storage.auditLog.list({ userId, newest: 2, limit: 2 })).toEqual([newest])
      const rest = await storage.auditLog.list({ userId, before: next?.id ?? 0, limit: 2 })
      expect(rest.map(({ action }) => action)).toEqual(['a'])
    })
  })

  describe('the change feed', () => {
    test('returns each change since a position once', async () => {
      const { id: userId } = await addUser(storage)
      const { app } = await addApp(storage, { userId })
      const { row } = await addApiKey(storage, { userId })
      const before = await storage.changes.position()
      expect(await storage.changes.since(before)).toEqual({ position: before, changed: [] })
      await storage.apps.edit({ id: app.id, userId, details: { description: 'x' } })
      await storage.apps.edit({ id: app.id, userId, details: { description: 'y' } })
      await storage.keys.revoke({ id: row.id, userId, now })
      await storage.users.setState(userId, 'disabled')
      const { position, changed } = await storage.changes.since(before)
      expect(changed).toEqual([
        { kind: 'app', id: app.id },
        { kind: 'key', id: row.id },
        { kind: 'user', id: userId },
      ])
      expect(await storage.changes.since(position)).toEqual({ position, changed: [] })
      // A position from before the database was restored: later, or of another change.
      const later = position.replace(/\d+/, (seq) => String(Number(seq) + 100))
      for (const lost of [later, `${position}x`]) expect((await storage.changes.since(lost)).changed).toBe('all')
    })
  })

  describe('transaction', () => {
    test('commits everything or nothing', async () => {
      const user = await storage.transaction(async (within) => {
        const made = await addUser(within)
        await addApp(within, { userId: made.id })
        return made
      })
      expect(await storage.apps.list(user.id)).toHaveLength(1)
      const before = await storage.changes.position()
      let hash = ''
      await expect(
        storage.transaction(async (within) => {
          const key = await addApiKey(within, { userId: user.id })
          hash = key.hash
          await within.users.setState(user.id, 'disabled')
          // Readers do not see uncommitted data.
          expect(await storage.findAccess(hash)).toBeUndefined()
          throw new Error('no')
        }),
      ).rejects.toThrow('no')
      expect(await storage.findAccess(hash)).toBeUndefined()
      expect((await storage.users.find(user.id))?.state).toBe('active')
      expect(await storage.changes.position()).toBe(before)
    })

    test('continues after a rejection', async () => {
      const user = await addUser(storage)
      await addApp(storage, { userId: user.id, name: 'Taken' })
      const { app } = await addApp(storage, { userId: user.id, name: 'Other' })
      await storage.transaction(async ({ apps, users }) => {
        expect(await users.create({ email: user.email, password: 'x', now })).toBe('emailTaken')
        expect(await apps.edit({ id: app.id, userId: user.id, details: { name: 'taken' } })).toBe('nameTaken')
        await users.setPassword(user.id, '$argon2id$after')
      })
      expect((await storage.users.find(user.id))?.password).toBe('$argon2id$after')
    })
  })

  test('responds to a ping with the position of the last change', async () => {
    const before = await storage.ping()
    expect(before).toBe(await storage.changes.position())
    const user = await addUser(storage)
    const { row } = await addApiKey(storage, { userId: user.id })
    await storage.keys.revoke({ id: row.id, userId: user.id, now })
    expect(await storage.ping()).toBe(`${Number.parseInt(before, 10) + 1} ${row.id}`)
  })
})
