import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkStoredKeys, createApiKey, createService, isConfigError, parseServiceConfig } from '../../src/index.ts'
import { readServerSecrets } from '../../src/service/readServerSecrets.ts'
import type { Service } from '../../src/service/service.ts'
import type { ServiceLogEntry } from '../../src/service/serviceLog.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import { sealKey } from '../../src/lib/secrets/sealKey.ts'
import { checkSecret } from '../../src/service/checkSecret.ts'
import { unreachableUrl } from '../startGateway.ts'
import { writeConfig } from './serviceProcess.ts'

const newSecret = (): string => randomBytes(48).toString('base64url')
const right = newSecret()
const config = {
  publicUrl: 'http://127.0.0.1:1',
  listen: { port: 0 },
  storage: { file: 'keyrail.db' },
  signUp: 'open',
  networks: { testnet: { chainId: 1, testnet: true, upstreams: [{ url: unreachableUrl }] } },
} as const

let folder = ''
const running: Service[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-secret-'))
})
afterEach(async () => {
  for (const service of running.splice(0)) await service.close({ graceMs: 0 })
  rmSync(folder, { recursive: true, force: true })
})

const start = async (secret: string, options: { newSecret?: boolean; log?: (entry: ServiceLogEntry) => void } = {}) => {
  const service = await createService({
    config: parseServiceConfig(config),
    secrets: readServerSecrets({ KEYRAIL_SECRET: secret }),
    storage: { file: join(folder, 'keyrail.db') },
    ...options,
  })
  running.push(service)
  return service
}
const stop = async (): Promise<void> => running.pop()?.close({ graceMs: 0 })

/** Creates an account with an app and an API key. */
const provide = (service: Service) =>
  service.provideAccount({
    account: { email: 'ann@example.org', password: 'a long enough password' },
    app: { id: 'app', apiKey: createApiKey('app') },
    keys: { testnet: { id: 'key', apiKey: createApiKey('testnet') } },
  })

const getError = async (work: () => Promise<unknown>): Promise<string> => {
  try {
    await work()
  } catch (error) {
    if (isConfigError(error)) return error.message
    throw error
  }
  throw new Error('it did not fail')
}

describe('a wrong secret', () => {
  test('does not start, before users rotate keys that the right secret would show', async () => {
    await provide(await start(right))
    await stop()
    const wrong = newSecret()
    const message = await getError(() => start(wrong))
    expect(message).toMatch(
      /^KEYRAIL_SECRET, or the file of KEYRAIL_SECRET_FILE, is .*this secret decrypts 0 of 2 stored keys.*--new-secret/,
    )
    expect(message).not.toContain(wrong)
    const file = writeConfig(folder, config)
    expect(await getError(() => checkStoredKeys(file, { environment: { KEYRAIL_SECRET: wrong } }))).toBe(message)
    expect(await checkStoredKeys(file, { environment: { KEYRAIL_SECRET: right } })).toEqual({ decrypted: 2, stored: 2 })
    // The right one starts as before.
    await start(right)
  })

  test('starts with --new-secret, and says in the log and in /readyz how many keys it decrypts', async () => {
    await provide(await start(right))
    await stop()
    const wrong = newSecret()
    const logged: ServiceLogEntry[] = []
    const service = await start(wrong, { newSecret: true, log: (entry) => logged.push(entry) })
    expect(logged).toContainEqual({
      event: 'warning',
      what: expect.stringContaining('this secret decrypts 0 of 2 stored keys'),
    })
    const { port } = await service.listen()
    const url = `http://127.0.0.1:${port}`
    expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({
      details: { secret: 'this secret decrypts 0 of 2 stored keys' },
    })
    // A reload with the right one corrects it.
    await service.reload(parseServiceConfig(config), readServerSecrets({ KEYRAIL_SECRET: right }))
    expect(await (await fetch(`${url}/readyz`)).json()).not.toHaveProperty('details')
    const message = await getError(() =>
      service.reload(parseServiceConfig(config), readServerSecrets({ KEYRAIL_SECRET: newSecret() })),
    )
    expect(message).toContain('this secret decrypts 0 of 2 stored keys')
  })

  test('does not start if only authenticator apps are sealed', async () => {
    await start(right)
    await stop()
    const storage = await openStorage({ file: join(folder, 'keyrail.db') })
    const user = await storage.users.create({ email: 'ann@example.org', password: '', now: 1 })
    if (typeof user === 'string') throw new Error(user)
    const [secret] = readServerSecrets({ KEYRAIL_SECRET: right })
    const sealed = sealKey('SECRET', { id: 'fac_1', userId: user.id }, secret)
    await storage.factors.add({
      id: 'fac_1',
      userId: user.id,
      kind: 'totp',
      label: 'App',
      sealed,
      credentialId: null,
      publicKey: null,
      transports: [],
      counter: 1,
      createdAt: 1,
      usedAt: null,
      max: 10,
    })
    await storage.close()
    expect(await getError(() => start(newSecret()))).toContain('this secret decrypts 0 of 1 stored keys')
    await start(right)
  })

  test('is not suspected of a new database', async () => {
    const file = writeConfig(folder, config)
    expect(await checkStoredKeys(file, { environment: { KEYRAIL_SECRET: right } })).toEqual({
      unknown: 'the database does not exist yet',
    })
    await start(right)
    await stop()
    await start(newSecret())
  })
})

test('a rotated secret decrypts the keys of the old one, and a lost one is counted', async () => {
  const [one] = readServerSecrets({ KEYRAIL_SECRET: `1:${right}` })
  const [two] = readServerSecrets({ KEYRAIL_SECRET: `2:${newSecret()}` })
  const owners = Array.from({ length: 3 }, (_, index) => ({ id: `key_${index}`, userId: 'usr' }))
  const all = owners.map((owner, index) => ({
    ...owner,
    sealed: sealKey('kr_key', owner, index === 0 ? one : two),
  }))
  const keys = {
    listSealed: async ({ after = '', limit }: { after?: string; limit: number }) =>
      all.filter(({ id }) => id > after).slice(0, limit),
  }
  const none = { listSealed: async () => [] }
  const storage = { keys, webhooks: none, factors: none }
  expect(await checkSecret(storage, [two, one])).toEqual({ decrypted: 3, stored: 3 })
  expect(await checkSecret(storage, [two])).toEqual({ decrypted: 2, stored: 3 })
})
