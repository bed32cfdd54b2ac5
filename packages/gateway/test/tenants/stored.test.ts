import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createGateway } from '../../src/index.ts'
import type { Gateway } from '../../src/index.ts'
import { createStoredKeys } from '../../src/auth/key/createStoredKeys.ts'
import type { StoredKeys } from '../../src/auth/key/createStoredKeys.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage, StorageOptions } from '../../src/storage/openStorage.ts'
import { startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream } from '../fakeUpstream.ts'
import { chainIds, post } from '../startGateway.ts'
import { databases } from '../storage/databases.ts'
import { addApiKey, addApp, addUser, granted, newKey } from '../storage/fill.ts'
import { call, said } from './startTenants.ts'

const read = call('eth_gasPrice')

interface Instance {
  readonly keys: StoredKeys
  readonly gateway: Gateway
  readonly storage: Storage
  readonly url: string
}

describe.each(databases)('two instances on one $name', (database) => {
  let options: StorageOptions
  let upstream: FakeUpstream
  const instances: Instance[] = []
  beforeAll(async () => {
    options = await database.create()
    upstream = await startFakeUpstream(chainIds.testnet)
  })
  afterEach(async () => {
    for (const { keys, gateway, storage } of instances.splice(0)) {
      await gateway.close({ graceMs: 0 })
      await keys.close()
      await storage.close()
    }
  })
  afterAll(async () => {
    await upstream.stop()
    await database.stop()
  })

  const start = async (): Promise<Instance> => {
    const storage = await openStorage(options)
    const limits = { perSecond: null, burst: 1, perDay: null, perMonth: null }
    const keys = createStoredKeys({ storage, limitsOf: () => limits })
    const network = { chainId: chainIds.testnet, upstreams: [{ url: upstream.url }] }
    const gateway = createGateway({ networks: { testnet: network, mainnet: network }, keys })
    const { url } = await gateway.listen()
    const instance = { keys, gateway, storage, url }
    instances.push(instance)
    return instance
  }

  test('a revoked key is rejected by the next request to that instance, and soon by the other instance', async () => {
    const [here, there] = [await start(), await start()]
    const user = await addUser(here.storage)
    const { row, key } = await addApiKey(here.storage, { userId: user.id })
    for (const { url } of [here, there]) expect(said(await post(`${url}/testnet/${key}`, read))).toEqual([200, '0x1'])
    await here.storage.keys.revoke({ id: row.id, userId: user.id, now: Date.now() })
    here.keys.forget([{ kind: 'key', id: row.id }])
    expect(said(await post(`${here.url}/testnet/${key}`, read))).toEqual([401, 'key_revoked'])
    await expect.poll(async () => (await post(`${there.url}/testnet/${key}`, read)).status, { interval: 20 }).toBe(401)
  })

  test("an app's changes act on its old key in grace as on its new one", async () => {
    const { storage, keys, url } = await start()
    const user = await addUser(storage)
    const { app, key, stored } = await addApp(storage, { userId: user.id })
    const next = newKey('app', { userId: user.id, id: stored.id })
    const now = Date.now()
    granted(
      await storage.keys.rotate({ id: stored.id, userId: user.id, key: next.stored, oldUntil: now + 60_000, now }),
    )
    const answers = async (): Promise<unknown[]> => [
      said(await post(`${url}/testnet/v2/${key}`, read)),
      said(await post(`${url}/testnet/v2/${next.key}`, read)),
    ]
    expect(await answers()).toEqual([
      [200, '0x1'],
      [200, '0x1'],
    ])
    granted(
      await storage.allowList.add({
        appId: app.id,
        userId: user.id,
        type: 'ip',
        value: '203.0.113.7',
        label: '',
        max: 30,
        now,
      }),
    )
    keys.forget([{ kind: 'app', id: app.id }])
    expect(await answers()).toEqual([
      [403, 'ip_not_allowed'],
      [403, 'ip_not_allowed'],
    ])
    await storage.users.setState(user.id, 'disabled')
    keys.forget([{ kind: 'user', id: user.id }])
    expect(await answers()).toEqual([
      [401, 'key_disabled'],
      [401, 'key_disabled'],
    ])
  })
})
