import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createService, isConfigError, openCacheTools, parseServiceConfig, readServerSecrets } from '../../src/index.ts'
import type { RunningConfig } from '../../src/service/runningConfig.ts'
import { openConfiguredChainStore } from '../../src/service/runService.ts'
import { chainIds, post } from '../startGateway.ts'
import { createVisitor } from '../service/visitor.ts'
import { createModelChain, toAddress, toWord } from './modelChain.ts'
import { createTestFolder, openTestStore } from './openTestFile.ts'
import { startChainNode } from './startChainNode.ts'

/** The options of the stores in Redis that were opened. */
const redisStores: unknown[] = vi.hoisted(() => [])
vi.mock('../../src/service/openCacheRedis.ts', () => ({
  openCacheRedis: (options: unknown) => Promise.resolve(void redisStores.push(options)),
}))

const block = '{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["0x5",false]}'

test('a service with `cache.file` stores final results, counts them, and its operator can show and delete them', async () => {
  const folder = createTestFolder()
  const chain = createModelChain()
  for (let number = 0; number < 100; number += 1) chain.mine([])
  const node = await startChainNode(chain, { finalized: 90, head: 100 })
  onTestFinished(node.stop)
  const given = {
    publicUrl: 'http://localhost',
    listen: { port: 0 },
    prometheus: { port: 0 },
    signUp: 'open' as const,
    networks: {
      testnet: {
        chain: 'testland',
        chainId: chainIds.testnet,
        upstreams: [{ url: node.url, name: 'own', weights: { '*': 20 } }],
      },
    },
    bounds: { maxCacheBytes: 0 },
    cache: { file: join(folder, 'cache.db') },
  }
  const { publicUrl: _, ...config } = parseServiceConfig(given)
  const service = await createService({
    config,
    secrets: readServerSecrets({ KEYRAIL_SECRET: randomBytes(32).toString('hex') }),
    storage: { file: join(folder, 'keyrail.db') },
  })
  onTestFinished(() => service.close({ graceMs: 0 }))
  const { url, prometheusPort } = await service.listen()
  const visitor = createVisitor(url)
  await visitor.get('POST /api/account', { body: { email: 'ann@example.org', password: 'plum tin roof gate' } })
  const { urls } = await visitor.get('POST /api/apps', {
    body: { name: 'Shop', useCase: 'Defi', chain: 'testland', services: ['Node API'] },
  })
  const rpcUrl = urls['testnet'] ?? ''
  await expect.poll(async () => (await post(rpcUrl, block)).headers.get('x-keyrail-cache')).toBe('store')
  const { headers } = await post(rpcUrl, block.replace('0x5', '0x6'))
  expect(headers.get('x-keyrail-cache')).toBe('node')
  const metrics = await (await fetch(`http://127.0.0.1:${prometheusPort}/metrics`)).text()
  const [, hits] =
    /keyrail_cache_calls_total\{network="testnet",method="eth_getBlockByNumber",result="hit"\} ([1-9]\d*)/.exec(
      metrics,
    ) ?? []
  expect(metrics).toContain(`keyrail_cache_saved_units_total{network="testnet",upstream="own"} ${20 * Number(hits)}\n`)
  expect(metrics).toContain('keyrail_cache_dropped_total{reason="disk"} 0')
  // One of the two results is stored.
  await post(rpcUrl, `[${block},${block.replace('0x5', '0x7')}]`)
  const { items } = await visitor.get('GET /api/apps')
  const [{ id: appId } = { id: '' }] = items
  const params = { appId }
  const getLogged = async (): Promise<readonly (readonly number[])[]> => {
    const { items: logged } = await visitor.get('GET /api/apps/{appId}/requests', { params })
    return logged.slice(0, 3).map(({ calls, storedCalls }) => [calls, storedCalls])
  }
  await expect.poll(getLogged, { timeout: 5_000 }).toEqual([
    [2, 1],
    [1, 0],
    [1, 1],
  ])
  expect((await visitor.get('GET /api/apps/{appId}/metrics', { params })).stored).toBe(2)

  const file = join(folder, 'keyrail.config.json')
  writeFileSync(file, JSON.stringify({ ...given, cache: { file: 'cache.db' }, storage: { file: 'keyrail.db' } }))
  const tools = await openCacheTools(file)
  onTestFinished(tools.close)
  const chainName = `testnet ${chainIds.testnet}`
  const [stored] = (await tools.getStats()).chains
  expect(stored).toMatchObject({
    chain: expect.stringContaining(`${chainName} `),
    upstream: 'own',
    spans: 0,
    unconfirmed: 0,
  })
  expect(stored?.entries).toBeGreaterThan(0)
  await tools.purge({ network: 'testnet', upstream: 'other' })
  expect((await tools.getStats()).chains[0]?.entries).toBe(stored?.entries)
  await tools.purge({ network: 'testnet' })
  expect((await tools.getStats()).chains).toEqual([])
  await expect(tools.purge({ network: 'mainnet' })).rejects.toSatisfy(isConfigError)
})

test('a service without a chain store has nothing to show', async () => {
  const file = join(createTestFolder(), 'keyrail.config.json')
  const networks = { testnet: { chainId: 5, upstreams: [{ url: 'http://127.0.0.1:9' }] } }
  writeFileSync(file, JSON.stringify({ publicUrl: 'http://localhost', networks }))
  await expect(openCacheTools(file)).rejects.toSatisfy(isConfigError)
  writeFileSync(file, JSON.stringify({ publicUrl: 'http://localhost', networks, cache: { file: 'none.db' } }))
  await expect(openCacheTools(file)).rejects.toSatisfy(isConfigError)
})

test('without CACHE_REDIS_URL, no Redis is opened', async () => {
  redisStores.length = 0
  const cache = { file: join(createTestFolder(), 'cache.db'), maxBytes: 1e9, confirm: false }
  const store = await openConfiguredChainStore({ cache } as RunningConfig, () => {})
  await store?.close()
  expect(await openConfiguredChainStore({} as RunningConfig, () => {})).toBeUndefined()
  expect(redisStores).toEqual([])
  await openConfiguredChainStore({} as RunningConfig, () => {}, { redisUrl: 'redis://cache' })
  expect(redisStores).toEqual([expect.objectContaining({ redisUrl: 'redis://cache' })])
})

test('a chain store that cannot be used is off, and the service starts', async () => {
  const file = join(createTestFolder(), 'cache.db')
  // Of this version, but without its tables.
  const database = new DatabaseSync(file)
  database.exec('pragma user_version = 4')
  database.close()
  const warnings: unknown[] = []
  const config = { cache: { file, maxBytes: 1e9 } } as RunningConfig
  expect(await openConfiguredChainStore(config, (entry) => warnings.push(entry))).toBeUndefined()
  expect(warnings).toEqual([
    { event: 'warning', what: expect.stringContaining('The chain store is off until the service is restarted') },
  ])
  const folder = { cache: { file: createTestFolder(), maxBytes: 1e9 } } as RunningConfig
  await expect(openConfiguredChainStore(folder, () => {})).rejects.toThrow('set cache.file to a path')
})

test('an operator fills the store of a service that is not running, and each log is queried once', async () => {
  const folder = createTestFolder()
  const chain = createModelChain()
  const address = toAddress(1)
  for (let number = 1; number <= 12_000; number += 1) chain.mine([{ address, topics: [toWord(1)], data: '0x' }])
  const node = await startChainNode(chain, { finalized: 11_500, head: 12_000, maxBlocks: 5_000 })
  onTestFinished(node.stop)
  const file = join(folder, 'keyrail.config.json')
  const write = (members: object): void =>
    writeFileSync(
      file,
      JSON.stringify({
        publicUrl: 'http://localhost',
        networks: { testnet: { chainId: chainIds.testnet, upstreams: [{ url: node.url, name: 'own' }], ...members } },
        cache: { file: 'cache.db' },
        storage: { file: 'keyrail.db' },
      }),
    )
  write({})
  await (await openTestStore(join(folder, 'cache.db'))).close()
  const warm = async (from: number, to?: number) => {
    const tools = await openCacheTools(file)
    try {
      return await tools.warm({ addresses: [address], from, to })
    } finally {
      await tools.close()
    }
  }
  expect(await warm(501)).toEqual({ next: 11_501, to: 11_500, failure: undefined })
  expect(node.queries.toSorted()).toEqual(['10501-11500 1', '501-10500 1', '501-5500 1', '5501-10500 1'])
  node.queries.length = 0
  expect(await warm(501, 11_000)).toEqual({ next: 11_001, to: 11_000, failure: undefined })
  expect(node.queries).toEqual([])
  node.behave = (call, response) => {
    response.statusCode = 500
    return `${call.id}`
  }
  expect(await warm(1, 900)).toEqual({ next: 1, to: 900, failure: expect.any(String) as string })
  write({ cache: false })
  await expect(warm(1)).rejects.toSatisfy(isConfigError)
})
