import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApiKey } from '../lib/secrets/apiKey.ts'
import { openKey } from '../lib/secrets/sealKey.ts'
import { storeKey } from '../lib/secrets/storeKey.ts'
import { createId } from '../storage/createId.ts'
import { openStorage } from '../storage/openStorage.ts'
import type { Storage } from '../storage/openStorage.ts'
import { readServerSecrets } from './readServerSecrets.ts'
import { rotateSecret } from './rotateSecret.ts'

const folder = mkdtempSync(join(tmpdir(), 'keyrail-secret-'))
const file = join(folder, 'secret')
const first = 'the-first-secret-of-this-service-long-enough'
let storage: Storage
beforeAll(async () => {
  storage = await openStorage({ file: join(folder, 'keyrail.db') })
})
afterAll(async () => {
  await storage.close()
  rmSync(folder, { recursive: true, force: true })
})

const secrets = () => readServerSecrets({ KEYRAIL_SECRET_FILE: file })

test('a rotation reseals every key, and an old secret can be dropped afterwards', async () => {
  writeFileSync(file, first)
  const user = await storage.users.create({ email: 'ann@example.org', password: 'x', now: 1 })
  if (typeof user === 'string') throw new Error('taken')
  const key = createApiKey('testnet')
  const owner = { id: createId('key'), userId: user.id }
  const created = await storage.keys.createApiKey({
    network: 'testnet',
    userId: user.id,
    name: 'one',
    description: '',
    key: { ...storeKey(key, { owner, secret: secrets()[0] }), kind: 'testnet' },
    now: 1,
  })
  expect(created).toMatchObject({ id: owner.id })

  expect(await rotateSecret({ sealed: [storage.keys, storage.webhooks], file, waitMs: 0 })).toEqual({
    version: 2,
    resealed: 1,
    unreadable: [],
    dropped: [],
  })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`^2:[A-Za-z0-9_-]{64}\\n1:${first}\\n$`))
  expect(secrets().map(({ version }) => version)).toEqual([2, 1])

  expect(await rotateSecret({ sealed: [storage.keys, storage.webhooks], file, drop: true })).toMatchObject({
    version: 2,
    dropped: [1],
  })
  expect(secrets().map(({ version }) => version)).toEqual([2])
  const sealed = await storage.keys.findSealed(owner)
  expect(sealed && openKey(sealed.sealed, owner, secrets())).toBe(key)
})

test('an old secret that a key needs is not dropped', async () => {
  writeFileSync(file, `9:${'another secret that opens nothing '.replaceAll(' ', '-')}\n`)
  await expect(rotateSecret({ sealed: [storage.keys, storage.webhooks], file, drop: true })).rejects.toThrow(
    'no secret opens 1 of the keys',
  )
  expect(secrets().map(({ version }) => version)).toEqual([9])
})
