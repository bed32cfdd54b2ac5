import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createApiKey } from '../../src/index.ts'
import { createTestGateway } from '../createTestGateway.ts'
import type { TestGateway } from '../createTestGateway.ts'
import { createStoredKeys } from '../../src/auth/key/createStoredKeys.ts'
import type { StoredKeys } from '../../src/auth/key/createStoredKeys.ts'
import { createJwtKeyId } from '../../src/auth/jwt/jwtKeyId.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream } from '../fakeUpstream.ts'
import { chainIds, post } from '../startGateway.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { addApiKey, addUser } from '../storage/fill.ts'
import { call, summarize } from '../tenants/startTenants.ts'

const read = call('eth_gasPrice')
const burst = 5

describe.each(suiteDatabases)('look-ups of keys on $name', (database) => {
  let storage: Storage
  let upstream: FakeUpstream
  let keys: StoredKeys
  let gateway: TestGateway
  let url: string
  let lookUps: number
  let startedAt: number
  /** Look-ups wait for it. */
  let gate: Promise<void> | undefined
  beforeAll(async () => {
    storage = await openStorage(await database.create())
    upstream = await startFakeUpstream(chainIds.testnet)
  })
  afterAll(async () => {
    await upstream.stop()
    await storage.close()
    await database.stop()
  })
  beforeEach(async () => {
    lookUps = 0
    gate = undefined
    startedAt = performance.now()
    const count = <Result>(find: () => Result | Promise<Result>): Result | Promise<Result> => {
      lookUps += 1
      return gate === undefined ? find() : gate.then(find)
    }
    keys = createStoredKeys({
      storage: {
        ...storage,
        findAccess: (hash) => count(() => storage.findAccess(hash)),
        findAccessByKid: (kid) => count(() => storage.findAccessByKid(kid)),
      },
      getLimits: () => ({ perSecond: null, burst: 1, perDay: null, perMonth: null }),
    })
    await keys.refresh()
    const network = { chainId: chainIds.testnet, upstreams: [{ url: upstream.url }] }
    gateway = createTestGateway({
      networks: { testnet: network, mainnet: network },
      keys,
      unknownKeys: { perSecond: 1, burst },
      trustedProxies: ['127.0.0.1'],
    })
    ;({ url } = await gateway.listen())
  })
  afterEach(async () => {
    await gateway.close({ graceMs: 0 })
    await keys.close()
  })
  /** The burst, and for each second one key by the limit and one slow look-up. */
  const getMaxLookUps = (): number => burst + 2 * Math.ceil((performance.now() - startedAt) / 1_000) + 1

  const send = async (path: string, ip: string, headers: Record<string, string> = {}): Promise<unknown> =>
    summarize(
      await post(`${url}${path}`, read, {
        headers: { 'content-type': 'application/json', 'x-forwarded-for': ip, ...headers },
      }),
    )
  const addKey = async (): Promise<string> => {
    const { id } = await addUser(storage)
    return (await addApiKey(storage, { userId: id })).key
  }
  const guess = (ip: string, times: number): Promise<unknown[]> =>
    Promise.all(Array.from({ length: times }, () => send(`/testnet/${createApiKey('testnet')}`, ip)))

  test('of many random keys at once, only as many are looked up as the limit allows', async () => {
    const results = await guess('203.0.113.1', 200)
    expect(new Set(results.map((result) => JSON.stringify(result)))).toEqual(
      new Set(['[401,"key_unknown"]', '[429,"key_unknown_limited"]']),
    )
    expect(lookUps).toBeLessThanOrEqual(getMaxLookUps())
  })

  test('the ids of JWT keys count the same', async () => {
    const header = (kid: string): string => Buffer.from(JSON.stringify({ alg: 'ES256', kid })).toString('base64url')
    await Promise.all(
      Array.from({ length: 200 }, () =>
        send('/testnet/v2', '203.0.113.1', { authorization: `Bearer ${header(createJwtKeyId())}.e30.c2ln` }),
      ),
    )
    expect(lookUps).toBeLessThanOrEqual(getMaxLookUps())
  })

  test('one key many times at once is one look-up, and then none', async () => {
    const key = createApiKey('testnet')
    await Promise.all(Array.from({ length: 30 }, () => send(`/testnet/${key}`, '203.0.113.1')))
    expect(lookUps).toBe(1)
  })

  test('valid keys in memory work at an address that is over the limit, and other addresses are not affected', async () => {
    const [cached, other] = [await addKey(), await addKey()]
    expect(await send(`/testnet/${cached}`, '203.0.113.1')).toEqual([200, '0x1'])
    await guess('203.0.113.1', 100)
    const before = lookUps
    expect(await send(`/testnet/${cached}`, '203.0.113.1')).toEqual([200, '0x1'])
    expect(lookUps).toBe(before)
    expect(await send(`/testnet/${other}`, '203.0.113.2')).toEqual([200, '0x1'])
  })

  test('more valid keys than the limit behind one address are all served', async () => {
    const added = await Promise.all(Array.from({ length: 4 * burst }, addKey))
    const results = await Promise.all(added.map((key) => send(`/testnet/${key}`, '203.0.113.1')))
    expect(results).toEqual(added.map(() => [200, '0x1']))
  })

  test('callers that disconnect while they wait are not looked up', async () => {
    let open = (): void => {}
    gate = new Promise((resolve) => {
      open = resolve
    })
    const leave = new AbortController()
    const guesses = Array.from({ length: 4 * burst }, () =>
      post(`${url}/testnet/${createApiKey('testnet')}`, read, {
        headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.1' },
        signal: leave.signal,
      }).catch(() => 'aborted'),
    )
    await expect.poll(() => [gateway.load().requests, lookUps]).toEqual([4 * burst, burst])
    leave.abort()
    await Promise.all(guesses)
    await expect.poll(() => gateway.load().requests).toBe(0)
    const valid = send(`/testnet/${await addKey()}`, '203.0.113.1')
    await expect.poll(() => gateway.load().requests).toBe(1)
    open()
    expect(await valid).toEqual([200, '0x1'])
    expect(lookUps).toBe(burst + 1)
  })

  test('callers that wait get 503 with the first look-up that fails', async () => {
    let fail = (): void => {}
    gate = new Promise((_, reject) => {
      fail = () => reject(new Error('the database is down'))
    })
    const results = guess('203.0.113.1', 4 * burst)
    await expect.poll(() => [gateway.load().requests, lookUps]).toEqual([4 * burst, burst])
    fail()
    expect(await results).toEqual(Array.from({ length: 4 * burst }, () => [503, 'key_store_unavailable']))
    expect(lookUps).toBe(burst)
  })
})
