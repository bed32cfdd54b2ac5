import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import {
  checkCacheRedis,
  createService,
  isConfigError,
  openCacheTools,
  parseServiceConfig,
  readServerSecrets,
} from '../../src/index.ts'
import type { Service } from '../../src/index.ts'
import { chainIds, post } from '../startGateway.ts'
import { createVisitor } from '../service/visitor.ts'
import { startRedis } from '../usage/startRedis.ts'
import { createModelChain } from './modelChain.ts'
import { createTestFolder } from './openTestFile.ts'
import { startCacheRedis } from './openTestRedis.ts'
import type { CacheRedis } from './openTestRedis.ts'
import { startChainNode } from './startChainNode.ts'

const toBlockCall = (number: number): string =>
  `{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["0x${number.toString(16)}",false]}`

const toInput = (upstreamUrl: string) => ({
  publicUrl: 'http://localhost',
  listen: { port: 0 },
  signUp: 'open' as const,
  networks: {
    testnet: { chain: 'testland', chainId: chainIds.testnet, upstreams: [{ url: upstreamUrl, name: 'own' }] },
  },
  bounds: { maxCacheBytes: 0 },
})

const startCache = async (): Promise<CacheRedis> => {
  const redis = await startCacheRedis()
  onTestFinished(redis.stop)
  return redis
}

const create = async (
  upstreamUrl: string,
  urls: { readonly cacheRedisUrl?: string; readonly redisUrl?: string },
): Promise<Service> => {
  const { publicUrl: _, ...config } = parseServiceConfig(toInput(upstreamUrl))
  const service = await createService({
    config,
    secrets: readServerSecrets({ KEYRAIL_SECRET: randomBytes(32).toString('hex') }),
    storage: { file: join(createTestFolder(), 'keyrail.db') },
    ...urls,
  })
  onTestFinished(() => service.close({ graceMs: 0 }))
  return service
}

/** Starts a service, and creates an app. @returns The URL for calls. */
const start = async (upstreamUrl: string, cacheRedisUrl: string): Promise<string> => {
  const { url } = await (await create(upstreamUrl, { cacheRedisUrl })).listen()
  const visitor = createVisitor(url)
  await visitor.get('POST /api/account', { body: { email: 'ann@example.org', password: 'plum tin roof gate' } })
  const { urls } = await visitor.get('POST /api/apps', {
    body: { name: 'Shop', useCase: 'Defi', chain: 'testland', services: ['Node API'] },
  })
  return urls['testnet'] ?? ''
}

describe('services with CACHE_REDIS_URL', needs('redis-server'), () => {
  test('share what was stored, whose operator can show and delete it, and serve calls without Redis', async () => {
    const redis = await startCache()
    const chain = createModelChain()
    for (let number = 0; number < 100; number += 1) chain.mine([])
    const node = await startChainNode(chain, { finalized: 90, head: 100 })
    onTestFinished(node.stop)
    const [first, second] = [await start(node.url, redis.url), await start(node.url, redis.url)]
    const askFor = async (url: string, block: number): Promise<string | null> => {
      const { headers, text } = await post(url, toBlockCall(block))
      expect(text).toContain(`"result":${chain.getBlock(block)}`)
      return headers.get('x-keyrail-cache')
    }
    await expect.poll(() => askFor(first, 5)).toBe('store')
    await expect.poll(() => askFor(second, 5)).toBe('store')

    const file = join(createTestFolder(), 'keyrail.config.json')
    writeFileSync(file, JSON.stringify(toInput(node.url)))
    const tools = await openCacheTools(file, { environment: { CACHE_REDIS_URL: redis.url } })
    onTestFinished(tools.close)
    expect(tools.file).toBeUndefined()
    const stats = await tools.getStats()
    expect(stats).toMatchObject({ maxBytes: 100 * 1024 * 1024, chains: [] })
    expect(stats.bytes).toBeGreaterThan(0)
    await tools.purge({ network: 'testnet', upstream: 'own' })
    expect(await askFor(second, 5)).toBe('node')
    await expect.poll(() => askFor(first, 5)).toBe('store')

    await redis.kill()
    expect(await askFor(first, 5)).toBe('node')
    await redis.start()
    // It is empty, and the chain is verified again.
    await expect.poll(() => askFor(first, 6), { timeout: 20_000 }).toBe('store')
  })

  test('do not start on the Redis of the limits, nor on one that does not delete what was not used for longest', async () => {
    const [redis, limits] = [await startCache(), await startRedis()]
    onTestFinished(limits.stop)
    const reject = async (urls: Parameters<typeof create>[1]): Promise<string> => {
      const error: unknown = await create('http://127.0.0.1:9', urls).catch((caught: unknown) => caught)
      expect(isConfigError(error)).toBe(true)
      const { message } = error as Error
      expect(message).not.toMatch(/127\.0\.0\.1|[0-9a-f]{32}/)
      return message
    }
    expect(await reject({ cacheRedisUrl: limits.url.replace(/0$/, '1'), redisUrl: limits.url })).toContain(
      'CACHE_REDIS_URL names the Redis of REDIS_URL, whose counters must not be deleted. Use another server',
    )
    expect(await reject({ cacheRedisUrl: limits.url })).toContain('its maxmemory-policy is noeviction')
    const file = join(createTestFolder(), 'keyrail.config.json')
    writeFileSync(file, JSON.stringify({ ...toInput('http://127.0.0.1:9'), storage: { file: 'keyrail.db' } }))
    const check = (url: string) =>
      checkCacheRedis(file, { environment: { KEYRAIL_SECRET: 's'.repeat(32), CACHE_REDIS_URL: url } })
    expect(await check(redis.url)).toEqual({ problem: undefined })
    expect(await check('redis://127.0.0.1:9')).toEqual({
      problem: expect.stringContaining('does not respond') as string,
    })
    await expect(check(limits.url)).rejects.toSatisfy(isConfigError)
    await redis.admin.config('SET', 'maxmemory', '0')
    expect(await reject({ cacheRedisUrl: redis.url })).toContain('its maxmemory is 0')
  })
})
