import { describe, expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { createApiKey } from '../../src/index.ts'
import { createLocalLimits } from '../../src/usage/limits/createLocalLimits.ts'
import type { KeyLimits } from '../../src/auth/key/keyStore.ts'
import type { UsageLimits } from '../../src/usage/limits/usageLimits.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import { toRateKey } from '../../src/usage/limits/limitScript.ts'
import { createRateLimiter } from '../../src/usage/rateLimit/createRateLimiter.ts'
import { result, startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream } from '../fakeUpstream.ts'
import type { TestConfig } from '../createTestGateway.ts'
import { chainIds, post, startGateway } from '../startGateway.ts'
import type { StartedGateway } from '../startGateway.ts'
import { sqlite } from '../storage/databases.ts'
import { openRedisInstance } from '../usage/openRedisInstance.ts'
import { startRedis } from '../usage/startRedis.ts'
import { batch, call, noLimits, noon, summarize } from './startTenants.ts'

interface Started extends StartedGateway {
  readonly upstreams: { readonly testnet: FakeUpstream; readonly mainnet: FakeUpstream }
  /** Gives mainnet other options. */
  readonly reloadMainnet: (more: Partial<TestConfig['networks'][string]>) => Promise<void>
  /** The URLs of one app's key, whose limits on mainnet are its own. */
  readonly testnet: string
  readonly mainnet: string
}

const weights = { eth_getLogs: 5 }
const appLimits: KeyLimits = {
  ...noLimits,
  perSecond: 100,
  burst: 50,
  perDay: 1_000,
  networks: { mainnet: { perSecond: 1, burst: 10 } },
}

/** Starts a gateway with two networks, of which mainnet has limits of its own. */
const start = async (usageLimits: UsageLimits, limits: KeyLimits = appLimits): Promise<Started> => {
  const testnet = await startFakeUpstream(chainIds.testnet)
  const mainnet = await startFakeUpstream(chainIds.mainnet)
  onTestFinished(testnet.stop)
  onTestFinished(mainnet.stop)
  const options = {
    now: () => noon,
    usageLimits,
    limits: { weights },
    networks: {
      testnet: { chainId: chainIds.testnet, upstreams: [{ url: testnet.url }] },
      mainnet: {
        chainId: chainIds.mainnet,
        upstreams: [{ url: mainnet.url }],
        limits: { weights: { eth_getLogs: 8, eth_call: 2 } },
      },
    },
  }
  const started = await startGateway({ testnet: [] }, options)
  onTestFinished(() => started.gateway.close({ graceMs: 0 }))
  const key = createApiKey('app')
  started.keys.add(key, {
    id: 'key_n',
    kind: 'app',
    networks: ['testnet', 'mainnet'],
    status: 'active',
    appId: 'app_n',
    services: ['Node API'],
    limits,
  })
  return {
    ...started,
    upstreams: { testnet, mainnet },
    reloadMainnet: (more) => {
      const { testnet: same, mainnet: changed } = options.networks
      return started.gateway.reload({
        ...options,
        networks: { testnet: same, mainnet: { ...changed, ...more } },
      })
    },
    testnet: `${started.url}/testnet/v2/${key}`,
    mainnet: `${started.url}/mainnet/v2/${key}`,
  }
}

const startLocal = async (limits?: KeyLimits): Promise<Started & { readonly clock: { now: number } }> => {
  const clock = { now: 0 }
  const usageLimits = createLocalLimits({ now: () => noon, rates: createRateLimiter({ now: () => clock.now }) })
  onTestFinished(() => usageLimits.close())
  return { ...(await start(usageLimits, limits)), clock }
}

const read = call('eth_gasPrice')
const getLogs = call('eth_getLogs', '[{}]')
const getHeaders = (headers: Headers, ...names: readonly string[]): (string | null)[] =>
  names.map((name) => headers.get(`x-ratelimit-${name}`))

describe('a network with a rate of its own', () => {
  test('has a bucket of its own for each key, and the quota counts both networks', async () => {
    const { testnet, mainnet, clock } = await startLocal()
    expect(
      getHeaders((await post(testnet, batch(...Array<string>(50).fill('eth_gasPrice')))).headers, 'remaining'),
    ).toEqual(['0'])
    const other = await post(mainnet, batch(...Array<string>(9).fill('eth_gasPrice')))
    expect(getHeaders(other.headers, 'limit', 'remaining', 'remaining-day')).toEqual(['1', '1', '941'])
    // Testnet's bucket is full again, and mainnet's has one more token.
    clock.now += 1_000
    expect(getHeaders((await post(testnet, read)).headers, 'limit', 'remaining')).toEqual(['100', '49'])
    expect(getHeaders((await post(mainnet, read)).headers, 'limit', 'remaining')).toEqual(['1', '1'])
  })

  test('rejects a call above it with its numbers, also a large body before it is parsed', async () => {
    const { testnet, mainnet } = await startLocal()
    await post(mainnet, batch(...Array<string>(10).fill('eth_gasPrice')))
    const rejected = await post(mainnet, read)
    expect([rejected.status, JSON.parse(rejected.text)]).toMatchObject([
      429,
      {
        id: 1,
        error: { message: 'Request rate exceeded: 1 requests per second', data: { limit: 1, retryAfterMs: 1_000 } },
      },
    ])
    const large = call('eth_call', JSON.stringify(['x'.repeat(20_000)]))
    expect(JSON.parse((await post(mainnet, large)).text)).toMatchObject({ id: null, error: { data: { limit: 1 } } })
    expect((await post(testnet, large)).status).toBe(200)
  })

  test('without a limit per second has none, and a network that is not named keeps the bucket of the key', async () => {
    const { testnet, mainnet } = await startLocal({
      ...appLimits,
      networks: { mainnet: { perSecond: null, burst: 1 } },
    })
    expect(getHeaders((await post(mainnet, read)).headers, 'limit', 'limit-day')).toEqual([null, '1000'])
    expect(getHeaders((await post(testnet, read)).headers, 'limit', 'remaining')).toEqual(['100', '49'])
  })
})

describe('a network with weights of its own', () => {
  test('charges them to its rate and to the quota', async () => {
    const { testnet, mainnet } = await startLocal()
    expect(getHeaders((await post(testnet, getLogs)).headers, 'cost', 'remaining', 'remaining-day')).toEqual([
      '5',
      '45',
      '995',
    ])
    expect(getHeaders((await post(mainnet, getLogs)).headers, 'cost', 'remaining', 'remaining-day')).toEqual([
      '8',
      '2',
      '987',
    ])
    const { text } = await post(mainnet, getLogs)
    expect(text).toContain('(eth_getLogs counts as 8 requests, 2 left)')
  })

  test('has no cost header if they are all 1', async () => {
    const { reloadMainnet, testnet, mainnet } = await startLocal()
    await reloadMainnet({ limits: { weights: { eth_getLogs: 1 } } })
    expect(getHeaders((await post(mainnet, getLogs)).headers, 'cost', 'remaining')).toEqual([null, '9'])
    expect(getHeaders((await post(testnet, getLogs)).headers, 'cost', 'remaining')).toEqual(['5', '45'])
  })
})

describe('a network with request limits of its own', () => {
  const postToBoth = async (
    { testnet, mainnet }: Started,
    body: string,
  ): Promise<readonly [onTestnet: unknown, onMainnet: unknown]> => [
    summarize(await post(testnet, body)),
    summarize(await post(mainnet, body)),
  ]

  test('maxBatchCalls', async () => {
    const started = await startLocal(noLimits)
    await started.reloadMainnet({ bounds: { maxBatchCalls: 2 } })
    const all = [200, '0x1', '0x1', '0x1']
    expect(await postToBoth(started, batch('eth_gasPrice', 'eth_gasPrice', 'eth_gasPrice'))).toEqual([
      all,
      [413, 'batch_too_large'],
    ])
    await started.reloadMainnet({})
    expect(summarize(await post(started.mainnet, batch('eth_gasPrice', 'eth_gasPrice', 'eth_gasPrice')))).toEqual(all)
  })

  test('maxResponseBytes', async () => {
    const started = await startLocal(noLimits)
    await started.reloadMainnet({ bounds: { maxResponseBytes: 200 } })
    const text = 'x'.repeat(200)
    for (const node of Object.values(started.upstreams)) node.behave = (one) => result(one, `"${text}"`)
    expect(await postToBoth(started, read)).toEqual([
      [200, text],
      [502, 'response_too_large'],
    ])
  })

  test('upstreamTimeoutMs', async () => {
    const started = await startLocal(noLimits)
    // Long enough for the gateway's own queries on a busy machine.
    await started.reloadMainnet({ bounds: { upstreamTimeoutMs: 1_000 } })
    // Testnet's node responds after mainnet's time is up.
    let respond: (() => void) | undefined
    started.upstreams.testnet.behave = (one, response) => void (respond = () => response.end(result(one, '"0x2"')))
    started.upstreams.mainnet.behave = () => undefined
    const onTestnet = post(started.testnet, read)
    const onMainnet = await post(started.mainnet, read)
    respond?.()
    expect([summarize(onMainnet), summarize(await onTestnet)]).toEqual([
      [504, 'upstream_timeout'],
      [200, '0x2'],
    ])
  })

  const block = call('eth_getBlockByNumber', '["0x1",false]')
  /** How many of the next calls reach the node. */
  const countSent = async (url: string, { bodies }: FakeUpstream, calls = 1): Promise<number> => {
    const before = bodies.length
    for (let call = 0; call < calls; call += 1) await post(url, block)
    return bodies.length - before
  }
  const startWithBlocks = async (): Promise<Started> => {
    const started = await startLocal(noLimits)
    for (const node of Object.values(started.upstreams)) node.behave = (one) => result(one, '{"number":"0x1"}')
    return started
  }

  test('maxCacheBytes', async () => {
    const { testnet, mainnet, upstreams, reloadMainnet } = await startWithBlocks()
    await reloadMainnet({ bounds: { maxCacheBytes: 0 } })
    // Once the gateway knows the finalized block.
    await expect.poll(() => countSent(testnet, upstreams.testnet)).toBe(0)
    expect(await countSent(mainnet, upstreams.mainnet, 10)).toBe(10)
  })

  test('maxFilters', async () => {
    const started = await startLocal(noLimits)
    await started.reloadMainnet({ bounds: { maxFilters: 1 } })
    for (const node of Object.values(started.upstreams)) {
      let created = 0
      node.behave = (one) => result(one, one.method === 'eth_newBlockFilter' ? `"0x${(created += 1)}"` : '[]')
    }
    const create = async (url: string): Promise<string> => {
      const { text } = await post(url, call('eth_newBlockFilter'))
      return (JSON.parse(text) as { result: string }).result
    }
    const readFirstOfTwo = async (url: string): Promise<string> => {
      const first = await create(url)
      await create(url)
      return (await post(url, call('eth_getFilterChanges', `["${first}"]`))).text
    }
    expect(await readFirstOfTwo(started.testnet)).toContain('"result":[]')
    expect(await readFirstOfTwo(started.mainnet)).toContain('filter not found')
  })

  test('keeps its cache when a reload changes its weights or its batches', async () => {
    const { mainnet, upstreams, reloadMainnet } = await startWithBlocks()
    await expect.poll(() => countSent(mainnet, upstreams.mainnet)).toBe(0)
    await reloadMainnet({ limits: { weights: { eth_getLogs: 3 } }, bounds: { maxBatchCalls: 5 } })
    expect(await countSent(mainnet, upstreams.mainnet)).toBe(0)
    await reloadMainnet({ bounds: { maxCacheBytes: 100_000 } })
    expect(await countSent(mainnet, upstreams.mainnet)).toBe(1)
  })
})

test(
  'on Redis a network with a rate of its own has a key of its own, beside the account',
  needs('redis-server'),
  async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    const storage = await openStorage(await sqlite.create())
    onTestFinished(() => sqlite.stop())
    onTestFinished(() => storage.close())
    const instance = await openRedisInstance(redis.url, storage)
    onTestFinished(() => instance.close())
    const { testnet, mainnet } = await start(instance.limits)
    expect(
      (await post(testnet, batch(...Array<string>(50).fill('eth_gasPrice')))).headers.get('x-ratelimit-limit'),
    ).toBe('100')
    const other = await post(mainnet, batch(...Array<string>(9).fill('eth_gasPrice')))
    expect(getHeaders(other.headers, 'limit', 'remaining', 'remaining-day')).toEqual(['1', '1', '941'])
    const account = 'app:app_n'
    const rates = [toRateKey('key_n', account), toRateKey('key_n:mainnet', account)]
    expect(rates).toEqual(['kr:{app:app_n}:key_n', 'kr:{app:app_n}:key_n:mainnet'])
    expect((await instance.link.client.keys('kr:{*')).toSorted()).toEqual([...rates, 'kr:{app:app_n}:used'])
  },
)
