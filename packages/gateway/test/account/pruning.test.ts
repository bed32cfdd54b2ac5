import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createService, parseServiceConfig, readServerSecrets } from '../../src/index.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage, StorageOptions } from '../../src/storage/openStorage.ts'
import { chainIds, unreachableUrl } from '../startGateway.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { createFixture } from './accountFixture.ts'

const day = 86_400_000
const old = (entry: number) => ({ userId: null, actor: 'nobody', action: `old ${entry}`, subject: null, ip: null })

describe.each(suiteDatabases)('expired data on $name', (database) => {
  let options: StorageOptions
  let storage: Storage
  beforeAll(async () => {
    options = await database.create()
    storage = await openStorage(options)
  })
  afterAll(async () => {
    await storage.close()
    await database.stop()
  })
  const addOld = async (at: number): Promise<void> => {
    for (let entry = 0; entry < 250; entry += 1) await storage.auditLog.add({ ...old(entry), at, detail: null })
  }
  const actions = async (): Promise<string[]> =>
    (await storage.auditLog.list({ limit: 1_000 })).map(({ action }) => action)

  test('is deleted completely, and other data is not', async () => {
    const { accounts, clock, signUp } = createFixture(storage)
    await addOld(clock.now - 401 * day)
    const { viewer, token } = await signUp()
    const { id: userId } = viewer.user
    const other = (await signUp()).viewer.user.id
    for (const owner of [userId, other])
      for (let session = 0; session < 90; session += 1)
        await storage.sessions.create({
          hash: randomBytes(32).toString('hex'),
          userId: owner,
          now: clock.now - 31 * day,
        })
    expect(await storage.sessions.list(userId)).toHaveLength(91)
    await accounts.prune()
    expect(await actions()).toEqual(['account.signUp', 'account.signUp'])
    expect(await storage.sessions.list(userId)).toHaveLength(1)
    expect(await storage.sessions.list(other)).toHaveLength(1)
    expect(await accounts.authenticate(token)).toBeDefined()
    clock.now += 8 * day
    await accounts.prune(() => true)
    expect(await storage.sessions.list(userId)).toHaveLength(1)
  })

  test('is deleted by a service without log-ins', async () => {
    await storage.users.remove((await storage.users.list({ limit: 1 }))[0]?.id ?? '')
    const { accounts } = createFixture(storage, { now: () => Date.now() + 500 * day })
    await accounts.prune()
    expect(await actions()).toEqual([])
    await addOld(Date.now() - 401 * day)
    await storage.auditLog.add({ ...old(0), at: Date.now(), action: 'new', detail: null })
    const network = { upstreams: [{ url: unreachableUrl }] }
    const service = await createService({
      config: parseServiceConfig({
        publicUrl: 'http://127.0.0.1',
        networks: {
          testnet: { chainId: chainIds.testnet, ...network },
          mainnet: { chainId: chainIds.mainnet, ...network },
        },
      }),
      secrets: readServerSecrets({ KEYRAIL_SECRET: randomBytes(32).toString('hex') }),
      storage: options,
    })
    try {
      await expect.poll(actions).toEqual(['new'])
    } finally {
      await service.close()
    }
  })
})
