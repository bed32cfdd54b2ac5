import { describe, expect, test } from 'vitest'
import type { Storage } from '../../src/storage/openStorage.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { addApiKey, addApp, addUser, granted, newKey, now } from '../storage/fill.ts'
import { useStorage } from '../storage/useStorage.ts'

describe.each(suiteDatabases)('queries of the control API on $name', (database) => {
  let storage: Storage
  useStorage(database, (opened) => (storage = opened))

  test('apps are paginated, each once, even with equal creation times', async () => {
    const { id: userId } = await addUser(storage)
    const names = Array.from({ length: 7 }, (_, index) => `App ${index}`)
    for (const name of names) await addApp(storage, { userId, name })
    const seen: string[] = []
    let after: { createdAt: number; id: string } | undefined
    for (;;) {
      const { items, total } = await storage.apps.page({ userId, limit: 3, ...(after === undefined ? {} : { after }) })
      expect(total).toBe(7)
      seen.push(...items.map(({ name }) => name))
      after = items.at(-1)
      if (after === undefined) break
    }
    expect(seen.toSorted()).toEqual(names)
  })

  test('apps are found by part of their name, without wildcards', async () => {
    const { id: userId } = await addUser(storage)
    for (const name of ['100% Straße', '100 Straßen', 'a_b', 'a\\b', 'axb', "x'; drop table apps"])
      await addApp(storage, { userId, name })
    const find = async (search: string) =>
      (await storage.apps.page({ userId, search, limit: 10 })).items.map(({ name }) => name).toSorted()
    expect(await find('STRASSE')).toEqual(['100 Straßen', '100% Straße'])
    expect(await find('100%')).toEqual(['100% Straße'])
    expect(await find('A_B')).toEqual(['a_b'])
    expect(await find('a\\')).toEqual(['a\\b'])
    expect(await find("'; DROP")).toEqual(["x'; drop table apps"])
    expect(await find('nothing')).toEqual([])
  })

  test('an edit with an old version does not change an app', async () => {
    const { id: userId } = await addUser(storage)
    const { app } = await addApp(storage, { userId })
    const edit = (version: number, description: string) =>
      storage.apps.edit({ id: app.id, userId, version, details: { description } })
    expect(await edit(1, 'one')).toMatchObject({ version: 2 })
    expect(await edit(1, 'two')).toBe('versionMoved')
    expect(await storage.apps.find({ id: app.id, userId })).toMatchObject({ description: 'one', version: 2 })
    const racing = await Promise.all(Array.from({ length: 5 }, (_, index) => edit(2, `racer ${index}`)))
    expect(racing.filter((result) => result !== 'versionMoved')).toHaveLength(1)
  })

  test('an edit with an old version does not change an API key, nor does one of a revoked key', async () => {
    const { id: userId } = await addUser(storage)
    const { row, hash } = await addApiKey(storage, { userId })
    const edit = (version: number) =>
      storage.keys.edit({ id: row.id, userId, version, settings: { expiresAt: now + 5 } })
    expect(await edit(1)).toMatchObject({ version: 2, expiresAt: now + 5 })
    expect(await edit(1)).toBe('versionMoved')
    expect(await storage.findAccess(hash)).toMatchObject({ endsAt: now + 5 })
    expect(await storage.keys.edit({ id: row.id, userId, settings: { expiresAt: null } })).toMatchObject({
      expiresAt: null,
    })
    await storage.keys.revoke({ id: row.id, userId, now })
    expect(await edit(4)).toBe('revoked')
  })

  test('an old key is dropped before its grace period ends', async () => {
    const { id: userId } = await addUser(storage)
    const { app, hash, stored } = await addApp(storage, { userId })
    const next = newKey('app', { userId, id: stored.id })
    await storage.keys.rotate({ id: stored.id, userId, key: next.stored, oldUntil: now + 100, now })
    expect(await storage.findAccess(hash)).toMatchObject({ old: true })
    expect(await storage.keys.dropOld({ id: stored.id, userId })).toMatchObject({ oldUntil: null })
    expect(await storage.findAccess(hash)).toBeUndefined()
    expect(await storage.findAccess(next.hash)).toMatchObject({ old: false })
    expect(await storage.apps.find({ id: app.id, userId })).toMatchObject({ version: 3 })
    expect(await storage.keys.dropOld({ id: stored.id, userId: 'usr_other' })).toBe('notFound')
  })

  test('keys and apps are counted by user', async () => {
    const [ann, bob] = [await addUser(storage), await addUser(storage)]
    const before = { apps: await storage.apps.count(), keys: await storage.keys.countApiKeys() }
    const { app } = await addApp(storage, { userId: ann.id })
    await addApiKey(storage, { userId: ann.id })
    const { row } = await addApiKey(storage, { userId: ann.id })
    await storage.keys.revoke({ id: row.id, userId: ann.id, now })
    expect(await storage.apps.countByUser([ann.id, bob.id])).toEqual(new Map([[ann.id, 1]]))
    expect(await storage.keys.countApiKeysByUser([ann.id, bob.id])).toEqual(new Map([[ann.id, 1]]))
    expect(await storage.apps.countByUser([])).toEqual(new Map())
    expect(await storage.apps.count()).toBe(before.apps + 1)
    expect(await storage.keys.countApiKeys()).toBe(before.keys + 1)
    expect(await storage.keys.listByApps({ appIds: [app.id], userId: ann.id })).toHaveLength(1)
    expect(await storage.keys.listByApps({ appIds: [app.id], userId: bob.id })).toEqual([])
  })

  test("only the app's owner can change an entry's label", async () => {
    const { id: userId } = await addUser(storage)
    const { app } = await addApp(storage, { userId })
    const added = await storage.allowList.add({
      appId: app.id,
      userId,
      type: 'ip',
      value: '10.0.0.1',
      label: '',
      max: 30,
      now,
    })
    const { id } = granted(added)
    expect(await storage.allowList.edit({ id, appId: app.id, userId, label: 'office' })).toMatchObject({
      value: '10.0.0.1',
      label: 'office',
    })
    const { id: other } = await addUser(storage)
    expect(await storage.allowList.edit({ id, appId: app.id, userId: other, label: 'x' })).toBe('notFound')
    expect(await storage.allowList.edit({ id: 'alw_none', appId: app.id, userId, label: 'x' })).toBe('notFound')
  })
})
