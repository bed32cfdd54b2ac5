import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createTestGateway } from '../createTestGateway.ts'
import type { TestGateway } from '../createTestGateway.ts'
import { createStoredKeys } from '../../src/auth/key/createStoredKeys.ts'
import type { StoredKeys } from '../../src/auth/key/createStoredKeys.ts'
import { watchStores } from '../../src/service/watchStores.ts'
import type { StoreWatch } from '../../src/service/watchStores.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage, StorageOptions } from '../../src/storage/openStorage.ts'
import { startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream } from '../fakeUpstream.ts'
import { openSocket } from '../socket/openSocket.ts'
import { chainIds, post } from '../startGateway.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { addApiKey, addApp, addUser, granted, newKey } from '../storage/fill.ts'
import { call, summarize } from './startTenants.ts'

const read = call('eth_gasPrice')

interface Instance {
  readonly keys: StoredKeys
  readonly watch: StoreWatch
  readonly gateway: TestGateway
  readonly storage: Storage
  readonly url: string
}

describe.each(suiteDatabases)('two instances on one $name', (database) => {
  let options: StorageOptions
  let upstream: FakeUpstream
  const instances: Instance[] = []
  beforeAll(async () => {
    options = await database.create()
    upstream = await startFakeUpstream(chainIds.testnet)
  })
  afterEach(async () => {
    for (const { keys, watch, gateway, storage } of instances.splice(0)) {
      await gateway.close({ graceMs: 0 })
      watch.stop()
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
    const keys = createStoredKeys({ storage, getLimits: () => limits })
    const watch = watchStores([{ name: 'database', check: keys.refresh }], () => {})
    const network = { chainId: chainIds.testnet, upstreams: [{ url: upstream.url }] }
    const gateway = createTestGateway({ networks: { testnet: network, mainnet: network }, keys })
    const { url } = await gateway.listen()
    const instance = { keys, watch, gateway, storage, url }
    instances.push(instance)
    return instance
  }

  test('a revoked key is rejected by that instance immediately and by the other one soon', async () => {
    const [local, remote] = [await start(), await start()]
    const user = await addUser(local.storage)
    const { row, key } = await addApiKey(local.storage, { userId: user.id })
    for (const { url } of [local, remote])
      expect(summarize(await post(`${url}/testnet/${key}`, read))).toEqual([200, '0x1'])
    await local.storage.keys.revoke({ id: row.id, userId: user.id, now: Date.now() })
    local.keys.forget([{ kind: 'key', id: row.id }])
    expect(summarize(await post(`${local.url}/testnet/${key}`, read))).toEqual([401, 'key_revoked'])
    await expect.poll(async () => (await post(`${remote.url}/testnet/${key}`, read)).status, { interval: 20 }).toBe(401)
  })

  test('a change closes the WebSockets of both instances', async () => {
    const [local, remote] = [await start(), await start()]
    const user = await addUser(local.storage)
    const { app, key } = await addApp(local.storage, { userId: user.id })
    const apiKey = await addApiKey(local.storage, { userId: user.id })
    const open = (path: string) => Promise.all([local, remote].map(({ url }) => openSocket(`${url}${path}`)))
    const opened = [await open(`/testnet/v2/${key}`), await open(`/testnet/${apiKey.key}`)].flat()
    granted(
      await local.storage.allowList.add({
        appId: app.id,
        userId: user.id,
        type: 'ip',
        value: '203.0.113.7',
        label: '',
        max: 30,
        now: Date.now(),
      }),
    )
    await local.storage.keys.revoke({ id: apiKey.row.id, userId: user.id, now: Date.now() })
    local.keys.forget([
      { kind: 'app', id: app.id },
      { kind: 'key', id: apiKey.row.id },
    ])
    const reasons = await Promise.all(opened.map(async ({ closed }) => (await closed).reason))
    expect(reasons).toEqual(['ip_not_allowed', 'ip_not_allowed', 'key_revoked', 'key_revoked'])
  })

  test("an app's changes apply to its new key and to its old key in the grace period", async () => {
    const { storage, keys, url } = await start()
    const user = await addUser(storage)
    const { app, key, stored } = await addApp(storage, { userId: user.id })
    const next = newKey('app', { userId: user.id, id: stored.id })
    const now = Date.now()
    granted(
      await storage.keys.rotate({ id: stored.id, userId: user.id, key: next.stored, oldUntil: now + 60_000, now }),
    )
    const getResponses = async (): Promise<unknown[]> => [
      summarize(await post(`${url}/testnet/v2/${key}`, read)),
      summarize(await post(`${url}/testnet/v2/${next.key}`, read)),
    ]
    expect(await getResponses()).toEqual([
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
    expect(await getResponses()).toEqual([
      [403, 'ip_not_allowed'],
      [403, 'ip_not_allowed'],
    ])
    await storage.users.setState(user.id, 'disabled')
    keys.forget([{ kind: 'user', id: user.id }])
    expect(await getResponses()).toEqual([
      [401, 'key_disabled'],
      [401, 'key_disabled'],
    ])
  })
})
