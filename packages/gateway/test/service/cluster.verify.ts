import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { createApiKey } from '../../src/index.ts'
import type { ServiceConfigInput } from '../../src/service/serviceConfig.ts'
import { post } from '../startGateway.ts'
import { startTcpProxy } from '../startTcpProxy.ts'
import type { TcpProxy } from '../startTcpProxy.ts'
import { clusters } from './places.ts'
import type { PlaceKind } from './places.ts'
import { startTestService } from './testService.ts'
import { createVisitor } from './visitor.ts'
import type { Visitor } from './visitor.ts'

const toStop: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

const password = randomBytes(12).toString('base64url')
const read = '{"jsonrpc":"2.0","id":7,"method":"eth_blockNumber","params":[]}'
const signUp = async (url: string): Promise<Visitor> => {
  const visitor = createVisitor(url)
  await visitor.get('POST /api/account', { body: { email: 'ann@example.org', password } })
  return visitor
}
const createKey = (visitor: Visitor) => visitor.get('POST /api/keys', { body: { name: 'one', network: 'testnet' } })
const call = async (address: string): Promise<string> => {
  const { status, text } = await post(address, read)
  const { error } = JSON.parse(text) as { error?: { data?: { reason?: string } } }
  return `${status}${error === undefined ? '' : ` ${error.data?.reason}`}`
}
const readyz = async (url: string): Promise<unknown> => {
  const response = await fetch(`${url}/readyz`)
  return [response.status, await response.json()]
}

// Each test starts several processes from source.
/** Starts a service on a cluster whose database and Redis can be disconnected. */
const start = async (kind: PlaceKind, members: Partial<ServiceConfigInput> = {}) => {
  const proxies: Record<'database' | 'redis', TcpProxy | undefined> = { database: undefined, redis: undefined }
  const proxied: PlaceKind = {
    name: kind.name,
    open: async () => {
      const place = await kind.open()
      const environment = { ...place.environment }
      for (const [name, variable] of [
        ['database', 'DATABASE_URL'],
        ['redis', 'REDIS_URL'],
      ] as const) {
        const url = new URL(environment[variable] ?? '')
        const proxy = await startTcpProxy(Number(url.port))
        proxies[name] = proxy
        url.port = String(proxy.port)
        environment[variable] = url.href
      }
      return {
        ...place,
        environment,
        close: async () => {
          for (const proxy of Object.values(proxies)) await proxy?.close()
          await place.close()
        },
      }
    },
  }
  const service = await startTestService(proxied, members)
  toStop.push(service.close)
  const { database, redis } = proxies
  if (database === undefined || redis === undefined) throw new Error('no proxies')
  return { service, database, redis }
}

describe.each(clusters)('several instances on $name', needs('redis-server'), (kind) => {
  test('the other instances reject a key that one instance revokes, also while Redis is unavailable', async () => {
    const { service, redis } = await start(kind)
    const other = await service.startAnother()
    const ann = await signUp(service.url)
    for (const isCut of [false, true]) {
      const { key, url: address } = await createKey(ann)
      const otherAddress = address.replace(service.url, other.url)
      expect([await call(address), await call(otherAddress)]).toEqual(['200', '200'])
      if (isCut) redis.cut()
      await ann.get('POST /api/keys/{keyId}/revoke', { params: { keyId: key.id } })
      expect(await call(address)).toBe('401 key_revoked')
      await expect.poll(() => call(otherAddress), { interval: 10 }).toBe('401 key_revoked')
    }
  })

  test('four instances grant exactly the daily quota, and no more if one is killed', async () => {
    const perDay = 400
    const { service } = await start(kind, { limits: { apiKeys: { perDay } } })
    const others = [await service.startAnother(), await service.startAnother(), await service.startAnother()]
    const urls = [service.url, ...others.map(({ url }) => url)]
    const spend = async (visitor: Visitor, kill?: () => void): Promise<Map<string, number>> => {
      const { url: address } = await createKey(visitor)
      const counts = new Map<string, number>()
      let next = 0
      const calls = perDay * 1.6
      const callers = Array.from({ length: 16 }, async () => {
        while (next < calls) {
          next += 1
          if (next === perDay / 2) kill?.()
          const url = urls[next % urls.length] ?? ''
          const result = await call(address.replace(service.url, url)).catch(() => 'cut')
          counts.set(result, (counts.get(result) ?? 0) + 1)
        }
      })
      await Promise.all(callers)
      return counts
    }
    const ann = await signUp(service.url)
    const counts = await spend(ann)
    expect(Object.fromEntries(counts)).toEqual({ 200: perDay, '403 quota_exceeded': perDay * 0.6 })

    const bob = createVisitor(service.url)
    await bob.get('POST /api/account', { body: { email: 'bob@example.org', password } })
    const killed = await spend(bob, () => others[2]?.child.kill('SIGKILL'))
    expect(killed.get('cut')).toBeGreaterThan(0)
    // Responses in flight when the instance was killed can be counted without being received.
    expect(killed.get('200')).toBeLessThanOrEqual(perDay)
    expect(killed.get('200')).toBeGreaterThan(perDay / 2)
    const { day } = await bob.get('GET /api/usage')
    expect(day.used).toBeLessThanOrEqual(perDay)
    expect(killed.get('200')).toBeLessThanOrEqual(day.used)
  })

  test('while Redis is unavailable, no call is rejected by mistake, and /readyz reports it', async () => {
    const { service, redis } = await start(kind, { limits: { apps: { perSecond: 50, burst: 50 } } })
    const ann = await signUp(service.url)
    const { urls } = await ann.get('POST /api/apps', {
      body: { name: 'one', useCase: 'Other', chain: 'testland', services: ['Node API'] },
    })
    expect(await call(urls['testnet'] ?? '')).toBe('200')
    redis.cut()
    const calls: string[] = []
    for (let each = 0; each < 40; each += 1) calls.push(await call(urls['testnet'] ?? ''))
    expect(new Set(calls)).toEqual(new Set(['200']))
    await expect.poll(() => readyz(service.url)).toEqual([200, { status: 'degraded', degraded: ['redis'] }])
    // The rate limit still applies.
    const many = await Promise.all(Array.from({ length: 120 }, () => call(urls['testnet'] ?? '')))
    expect(many).toContain('429 rate_limited')
    redis.fix()
    await expect.poll(() => readyz(service.url)).toEqual([200, { status: 'ok' }])
    await expect.poll(() => call(urls['testnet'] ?? '')).toBe('200')
  })

  test('all instances notice a node that leaves the chain and comes back, also if one is killed or Redis is lost', async () => {
    const { service, redis } = await start(kind)
    const others = [await service.startAnother(), await service.startAnother()]
    const ann = await signUp(service.url)
    const { url: address } = await createKey(ann)
    const notice = async (urls: readonly string[], state: unknown): Promise<void> => {
      for (const url of urls)
        await expect
          .poll(async () => {
            // The network is in use, so its nodes are checked every 5 seconds.
            await call(address.replace(service.url, url))
            return readyz(url)
          })
          .toEqual([200, state])
    }
    const { testnet } = service.nodes
    const urls = [service.url, ...others.map(({ url }) => url)]
    const lost = { status: 'degraded', degraded: ['upstreams'], networks: ['testnet'] }
    testnet.chainId += 1
    await notice(urls, lost)
    testnet.chainId -= 1
    await notice(urls, { status: 'ok' })
    others[1]?.child.kill('SIGKILL')
    testnet.chainId += 1
    await notice(urls.slice(0, 2), lost)
    testnet.chainId -= 1
    await notice(urls.slice(0, 2), { status: 'ok' })
    redis.cut()
    testnet.chainId += 1
    await notice(urls.slice(0, 2), { ...lost, degraded: ['upstreams', 'redis'] })
    testnet.chainId -= 1
    await notice(urls.slice(0, 2), { status: 'degraded', degraded: ['redis'] })
  })

  test('while PostgreSQL is unavailable, known keys work, others get 503, and granted calls are counted later', async () => {
    const { service, database } = await start(kind)
    const ann = await signUp(service.url)
    const { url: address } = await createKey(ann)
    expect(await call(address)).toBe('200')
    const { day: before } = await ann.get('GET /api/usage')
    database.cut()
    await expect.poll(() => readyz(service.url)).toEqual([200, { status: 'degraded', degraded: ['database'] }])
    for (let each = 0; each < 60; each += 1) expect(await call(address)).toBe('200')
    expect(await call(`${service.url}/testnet/${createApiKey('testnet')}`)).toBe('503 key_store_unavailable')
    expect((await ann.request('GET', '/api/usage')).status).toBe(503)
    database.fix()
    await expect.poll(() => readyz(service.url)).toEqual([200, { status: 'ok' }])
    expect(await call(address)).toBe('200')
    await expect.poll(async () => (await ann.get('GET /api/usage')).day.used).toBeGreaterThanOrEqual(before.used + 60)
    await expect.poll(async () => (await ann.get('GET /api/metrics', { query: '?range=hour' })).succeeded).toBe(62)
    const stores = service.process.lines().filter(({ event }) => event === 'store')
    expect(stores.map(({ store, state }) => [store, state])).toEqual(
      stores.map((_, index) => ['database', index % 2 === 0 ? 'unavailable' : 'available']),
    )
    expect(stores.at(-1)?.['state']).toBe('available')
    // On a busy machine, a check can time out as well.
    expect(stores.filter(({ state, code }) => state === 'unavailable' && code !== 'timeout')).toHaveLength(1)
  })
})
