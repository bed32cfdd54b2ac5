import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isStorageError } from '../../src/errors/storageError.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage, StorageOptions } from '../../src/storage/openStorage.ts'
import { databases } from './databases.ts'
import { addApiKey, addApp, addUser, details, newKey, now } from './fill.ts'
import { openRaw } from './openRaw.ts'

const times = <T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))
const rejections = (results: readonly unknown[]): unknown[] => results.filter((result) => typeof result === 'string')

describe.each(databases)('concurrent use of $name', (database) => {
  let options: StorageOptions
  // Two storages, like two instances, each with its own connections.
  let storages: readonly [Storage, Storage]
  beforeAll(async () => {
    options = await database.create()
    storages = [await openStorage(options), await openStorage(options)]
  })
  afterAll(async () => {
    await Promise.all(storages.map((storage) => storage.close()))
    await database.stop()
  })
  const either = (index: number): Storage => storages[index % 2 === 0 ? 0 : 1]

  const createKey = (index: number, userId: string) =>
    either(index).keys.createApiKey({
      network: 'testnet',
      userId,
      name: `key ${index}`,
      description: '',
      key: newKey('testnet', { userId }).stored,
      now,
    })

  test('50 creations of API keys create exactly 4', async () => {
    const { id: userId } = await addUser(storages[0])
    const results = await times(50, (index) => createKey(index, userId))
    expect(rejections(results)).toEqual(Array.from({ length: 46 }, () => 'slotsFull'))
    expect(await storages[1].keys.listApiKeys(userId)).toHaveLength(4)
  })

  test('creations and revocations never leave more than 4, and exactly those that were created and not revoked', async () => {
    const { id: userId } = await addUser(storages[0])
    let most = 0
    const counts = await times(20, async (index) => {
      const made = await createKey(index, userId)
      most = Math.max(most, (await either(index + 1).keys.listApiKeys(userId)).length)
      if (typeof made === 'string') return 0
      if (index % 2 === 0) return 1
      expect(await either(index).keys.revoke({ id: made.id, userId, now })).toBe(true)
      return 0
    })
    expect(most).toBeLessThanOrEqual(4)
    expect(await storages[0].keys.listApiKeys(userId)).toHaveLength(
      counts.reduce<number>((sum, count) => sum + count, 0),
    )
  })

  test('a constraint of the database rejects a fifth key', async () => {
    const { id: userId } = await addUser(storages[0])
    await times(4, (index) => createKey(index, userId))
    const { db, close } = await openRaw(options)
    try {
      for (const slot of [1, 4, 5, 0])
        await expect(
          sql`insert into keys (id, user_id, kind, slot, name, description, sha256, ending, state, version, created_at)
            values (${`key_${slot}`}, ${userId}, 'testnet', ${slot}, '', '', ${Buffer.alloc(32, slot)}, '', 'active', 1, 0)`.execute(
            db.query,
          ),
        ).rejects.toSatisfy((error) => isStorageError(error, 'conflict'))
      await expect(sql`update keys set slot = null where user_id = ${userId}`.execute(db.query)).rejects.toSatisfy(
        (error) => isStorageError(error, 'conflict'),
      )
    } finally {
      await close()
    }
  })

  test('20 sign-ups with one email address create one user', async () => {
    const results = await times(20, (index) =>
      either(index).users.create({
        email: index % 3 === 0 ? 'ONE@example.org' : 'one@example.org',
        password: 'x',
        now,
      }),
    )
    expect(rejections(results)).toEqual(Array.from({ length: 19 }, () => 'emailTaken'))
  })

  test('20 accounts that verify one email address: one gets it, and the transactions of the others stay usable', async () => {
    const users = await times(20, (index) => addUser(either(index)))
    const results = await times(20, (index) =>
      either(index).transaction(async (within) => {
        const id = users[index]?.id ?? ''
        const set = await within.users.setVerifiedEmail(
          id,
          index % 3 === 0 ? 'TWO@example.org' : 'two@example.org',
          now,
        )
        expect(await within.users.setPassword(id, 'changed')).toBe(true)
        return set
      }),
    )
    expect(rejections(results)).toEqual(Array.from({ length: 19 }, () => 'emailTaken'))
    const passwords = users.map(async ({ id }) => (await storages[0].users.find(id))?.password)
    expect(new Set(await Promise.all(passwords))).toEqual(new Set(['changed']))
  })

  test('a sign-up and an account that verify one email address: one gets it', async () => {
    for (let round = 0; round < 10; round += 1) {
      const email = `both${round}@example.org`
      const user = await addUser(storages[0])
      const results: readonly unknown[] = await Promise.all([
        storages[0].users.setVerifiedEmail(user.id, email, now),
        storages[1].users.create({ email, password: 'x', now }),
      ])
      expect(rejections(results)).toEqual(['emailTaken'])
    }
  })

  test('20 apps with one name create one, and 20 with different names as many as are allowed', async () => {
    const { id: userId } = await addUser(storages[0])
    const create = (index: number, name: string) =>
      either(index).apps.create({
        userId,
        details: { ...details, name },
        key: newKey('app', { userId }).stored,
        max: 5,
        now,
      })
    expect(rejections(await times(20, (index) => create(index, 'same')))).toEqual(
      Array.from({ length: 19 }, () => 'nameTaken'),
    )
    expect(rejections(await times(20, (index) => create(index, `name ${index}`)))).toEqual(
      Array.from({ length: 16 }, () => 'appsFull'),
    )
    expect(await storages[0].apps.list(userId)).toHaveLength(5)
  })

  test('only one of two apps gets the same name', async () => {
    const { id: userId } = await addUser(storages[0])
    const apps = await times(6, (index) => addApp(either(index), { userId, name: `app ${index}` }))
    const results = await times(6, (index) =>
      either(index).apps.edit({ id: apps[index]?.app.id ?? '', userId, details: { name: 'wanted' } }),
    )
    expect(rejections(results)).toEqual(Array.from({ length: 5 }, () => 'nameTaken'))
  })

  test('no change of an app is lost, and its version counts them', async () => {
    const { id: userId } = await addUser(storages[0])
    const { app } = await addApp(storages[0], { userId })
    const before = await storages[0].changes.position()
    const results = await times(40, (index) =>
      either(index).allowList.add({
        appId: app.id,
        userId,
        type: 'method',
        value: `eth_${index}`,
        label: '',
        max: 30,
        now,
      }),
    )
    expect(rejections(results)).toEqual(Array.from({ length: 10 }, () => 'entriesFull'))
    expect((await storages[1].apps.find({ id: app.id, userId }))?.version).toBe(31)
    expect(await storages[1].changes.since(before)).toEqual({
      position: `${Number.parseInt(before, 10) + 30} ${app.id}`,
      changed: [{ kind: 'app', id: app.id }],
    })
  })

  test('a reader of the change feed misses no change', async () => {
    const { id: userId } = await addUser(storages[0])
    const made = await times(4, (index) => addApiKey(either(index), { userId }))
    let seen = await storages[0].changes.position()
    const received = new Set<string>()
    let writing = true
    const reading = (async () => {
      for (let last = false; !last;) {
        last = !writing
        const { position, changed } = await storages[1].changes.since(seen)
        if (changed === 'all') throw new Error('the feed lost its place')
        for (const { id } of changed) received.add(id)
        seen = position
      }
    })()
    const revoking = times(4, (index) =>
      either(index).keys.revoke({ id: made[index]?.row.id ?? '', userId, now }),
    ).finally(() => {
      writing = false
    })
    await Promise.all([reading, revoking])
    expect([...received].sort()).toEqual(made.map(({ row }) => row.id).sort())
  })

  test('a deadlock of two transactions is resolved', async () => {
    const [ann, bob] = [await addUser(storages[0]), await addUser(storages[0])]
    const results = await Promise.allSettled(
      [
        [ann, bob],
        [bob, ann],
      ].map(([first, second], index) =>
        either(index).transaction(async ({ users }) => {
          await users.setPassword(first?.id ?? '', 'p1')
          await users.setPassword(second?.id ?? '', 'p2')
        }),
      ),
    )
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0)
    for (const result of results)
      if (result.status === 'rejected') expect(isStorageError(result.reason, 'busy')).toBe(true)
  })
})
