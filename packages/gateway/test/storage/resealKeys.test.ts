import { describe, expect, test } from 'vitest'
import { openKey } from '../../src/lib/secrets/sealKey.ts'
import { createServerSecret } from '../../src/lib/secrets/serverSecret.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { resealKeys } from '../../src/storage/resealKeys.ts'
import { databases } from './databases.ts'
import { addApiKey, addUser, granted, newKey, now } from './fill.ts'
import { useStorage } from './useStorage.ts'

const old = createServerSecret('the old secret, 32 characters long')
const newest = createServerSecret('the new secret, 32 characters long', { version: 2 })
const lost = createServerSecret('a secret that nobody has any more.', { version: 3 })

describe.each(databases)('resealKeys on $name', (database) => {
  let storage: Storage
  useStorage(database, (opened) => (storage = opened))

  const reveal = async (id: string, userId: string): Promise<string> => {
    const { sealed, ...owner } = granted(await storage.keys.findSealed({ id, userId }))
    return openKey(sealed, owner, [newest])
  }

  test('reseals the keys of all pages with the newest secret, and skips those that cannot be decrypted', async () => {
    const users = await Promise.all(Array.from({ length: 60 }, () => addUser(storage)))
    const made = []
    for (const { id: userId } of users)
      for (let count = 0; count < 4; count += 1)
        made.push({ userId, ...(await addApiKey(storage, { userId, secret: old })) })
    const { id: userId } = await addUser(storage)
    const unsealed = await addApiKey(storage, { userId })
    const already = await addApiKey(storage, { userId, secret: newest })
    const unreadable = await addApiKey(storage, { userId, secret: lost })

    expect(await resealKeys(storage.keys, [newest, old])).toEqual({ resealed: 240, unreadable: [unreadable.row.id] })
    for (const { row, userId: owner, key } of made) expect(await reveal(row.id, owner)).toBe(key)
    expect(await reveal(already.row.id, userId)).toBe(already.key)
    expect(await storage.keys.findSealed({ id: unsealed.row.id, userId })).toBeUndefined()
    expect(await resealKeys(storage.keys, [newest, old])).toEqual({ resealed: 0, unreadable: [unreadable.row.id] })
  })

  test('does not restore a key that is rotated at the same time', async () => {
    const { id: userId } = await addUser(storage)
    const { row } = await addApiKey(storage, { userId, secret: old })
    const next = newKey('testnet', { userId, id: row.id, secret: newest })
    const { listSealed, replaceSealed } = storage.keys
    const rotateFirst = async (copy: Parameters<typeof replaceSealed>[0]) => {
      if (copy.id === row.id)
        granted(await storage.keys.rotate({ id: row.id, userId, key: next.stored, oldUntil: null, now }))
      return replaceSealed(copy)
    }
    const { resealed } = await resealKeys({ listSealed, replaceSealed: rotateFirst }, [newest, old])
    expect(resealed).toBe(0)
    expect(await reveal(row.id, userId)).toBe(next.key)
  })
})
