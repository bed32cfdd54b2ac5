import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { createService, parseServiceConfig, readServerSecrets, startFromFile } from '../../src/index.ts'
import type { Service } from '../../src/index.ts'
import type { ServiceConfig, ServiceConfigInput } from '../../src/service/serviceConfig.ts'
import { result, startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream } from '../fakeUpstream.ts'
import { openSocket } from '../socket/openSocket.ts'
import { chainIds, post } from '../startGateway.ts'
import { startRedis } from '../usage/startRedis.ts'
import { getFreePort } from '../getFreePort.ts'
import { createVisitor } from './visitor.ts'

const toStop: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

const startNode = async (): Promise<FakeUpstream> => {
  const node = await startFakeUpstream(chainIds.testnet)
  toStop.push(node.stop)
  return node
}

interface Started {
  readonly service: Service
  readonly url: string
  readonly configWith: (testnet: ServiceConfigInput['networks']['testnet']['upstreams']) => ServiceConfig
  /** Gets the lines of one metric. */
  readonly metric: (name: string) => Promise<string[]>
}
const start = async (
  testnet: ServiceConfigInput['networks']['testnet']['upstreams'],
  redisUrl?: string,
): Promise<Started> => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-metrics-'))
  toStop.push(() => rmSync(folder, { recursive: true, force: true }))
  const mainnet = await startNode()
  const port = await getFreePort()
  const configWith: Started['configWith'] = (upstreams) =>
    parseServiceConfig({
      publicUrl: `http://127.0.0.1:${port}`,
      listen: { port },
      prometheus: { port: 0 },
      maxCachedKeys: 5_000,
      signUp: 'open',
      networks: {
        testnet: { chainId: chainIds.testnet, upstreams },
        mainnet: { chainId: chainIds.testnet, upstreams: [{ url: mainnet.url, name: 'main' }] },
      },
    })
  const service = await createService({
    config: configWith(testnet),
    secrets: readServerSecrets({ KEYRAIL_SECRET: randomBytes(32).toString('hex') }),
    storage: { file: join(folder, 'keyrail.db') },
    redisUrl,
  })
  toStop.push(() => service.close({ graceMs: 0 }))
  const { url, prometheusPort } = await service.listen()
  return {
    service,
    url,
    configWith,
    metric: async (name) => {
      const text = await (await fetch(`http://127.0.0.1:${prometheusPort}/metrics`)).text()
      return text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    },
  }
}

/** Starts a TCP proxy for a node. While it is closed, it rejects connections, like the machine of a stopped node. */
const createSwitch = async (target: number) => {
  const sockets = new Set<Socket>()
  let port = 0
  let server: Server | undefined
  const open = async (): Promise<void> => {
    server = createServer((near) => {
      const far = connect(target, '127.0.0.1')
      for (const socket of [near, far]) {
        sockets.add(socket)
        socket.on('error', () => socket.destroy())
        socket.on('close', () => sockets.delete(socket))
      }
      near.pipe(far).pipe(near)
    })
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve))
    ;({ port } = server.address() as AddressInfo)
  }
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server?.close(resolve))
  }
  await open()
  toStop.push(close)
  return { port, open, close }
}

test('WebSockets are counted while they are open, and by the reason when they have closed', async () => {
  const node = await startNode()
  const { url, metric } = await start([{ url: node.url }])
  const visitor = createVisitor(url)
  await visitor.get('POST /api/account', { body: { email: 'ann@example.org', password: 'plum tin roof gate' } })
  const { key, url: address } = await visitor.get('POST /api/keys', { body: { name: 'ci', network: 'testnet' } })
  const socket = await openSocket(address)
  expect(await socket.call('eth_gasPrice')).toMatchObject({ result: '0x1' })
  expect(await metric('keyrail_websocket_connections')).toEqual(['keyrail_websocket_connections{network="testnet"} 1'])
  await visitor.request('POST', `/api/keys/${key.id}/revoke`, {})
  expect(await socket.closed).toEqual({ code: 1008, reason: 'key_revoked' })
  await expect
    .poll(() => metric('keyrail_websocket_closed_total'))
    .toEqual(['keyrail_websocket_closed_total{network="testnet",reason="key_revoked"} 1'])
  expect(await metric('keyrail_websocket_connections')).toEqual([])
})

// 15.33
describe('keyrail_upstream_healthy', () => {
  test('has a series for each node of the config, and none for a node that a reload removed', async () => {
    const [one, two] = [await startNode(), await startNode()]
    const { service, configWith, metric } = await start([
      { url: one.url, name: 'one' },
      { url: two.url, name: 'two' },
      { url: 'http://127.0.0.1:9', name: 'down' },
    ])
    const toLine = (name: string, healthy: 0 | 1, network = 'testnet'): string =>
      `keyrail_upstream_healthy{network="${network}",upstream="${name}"} ${healthy}`
    expect(await metric('keyrail_upstream_healthy')).toEqual([
      toLine('one', 1),
      toLine('two', 1),
      toLine('down', 0),
      toLine('main', 1, 'mainnet'),
    ])
    await service.reload(configWith([{ url: two.url, name: 'renamed' }]))
    expect(await metric('keyrail_upstream_healthy')).toEqual([toLine('renamed', 1), toLine('main', 1, 'mainnet')])
  })

  test('of a node has its calls by outcome, and the operator gets the same from the control API', async () => {
    const node = await startNode()
    const { url, metric, service } = await start([{ url: node.url, name: 'one', maxRequestsPerDay: 1_000 }])
    const visitor = createVisitor(url)
    const { account } = await visitor.get('POST /api/account', {
      body: { email: 'ann@example.org', password: 'plum tin roof gate' },
    })
    const { url: address } = await visitor.get('POST /api/keys', { body: { name: 'ci', network: 'testnet' } })
    for (let call = 0; call < 3; call += 1)
      await post(address, `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[${call}]}`)
    const labels = 'network="testnet",upstream="one"'
    expect(await metric('keyrail_upstream_calls_total')).toEqual([
      `keyrail_upstream_calls_total{${labels},outcome="result"} 3`,
    ])
    expect(await metric('keyrail_upstream_call_duration_seconds_count')).toContain(
      `keyrail_upstream_call_duration_seconds_count{${labels}} 3`,
    )
    expect(await metric('keyrail_upstream_budget_left')).toHaveLength(1)
    await service.accounts.operator.setUserRole({ id: account.id, role: 'operator' })
    const { items } = await visitor.get('GET /api/admin/upstreams')
    expect(items[0]).toMatchObject({ network: 'testnet', name: 'one', status: 'healthy', outcomes: { result: 3 } })
    expect(items[0]?.budgets[0]?.left).toBeLessThanOrEqual(997)
    expect(items[1]).toMatchObject({ network: 'mainnet', name: 'main', status: 'healthy', outcomes: {} })
    expect(JSON.stringify(items)).not.toContain(node.url)
  })

  test('is 0 while the circuit breaker of a node is open, also after the node was unreachable for a while', async () => {
    const node = await startNode()
    node.respondsToCheapRead = false
    const link = await createSwitch(Number(new URL(node.url).port))
    const { url, metric } = await start([{ url: `http://127.0.0.1:${link.port}`, name: 'one' }])
    const urls: string[] = []
    for (let user = 0; user < 3; user += 1) {
      const visitor = createVisitor(url)
      await visitor.get('POST /api/account', {
        body: { email: `u${user}@example.org`, password: 'plum tin roof gate' },
      })
      const { url: address } = await visitor.get('POST /api/keys', { body: { name: 'ci', network: 'testnet' } })
      urls.push(address)
    }
    let calls = 0
    const call = async (): Promise<number> => {
      calls += 1
      const body = `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[${calls}]}`
      return (await post(urls[calls % urls.length] ?? '', body)).status
    }
    const healthy = async (): Promise<string | undefined> =>
      (await metric('keyrail_upstream_healthy')).find((line) => line.includes('"one"'))?.at(-1)
    node.behave = (_, response) => {
      response.statusCode = 500
      return 'broken'
    }
    expect(await healthy()).toBe('1')
    for (let each = 0; each < 6; each += 1) expect(await call()).toBe(502)
    expect(await healthy()).toBe('0')

    await link.close()
    expect(await call()).toBe(503)
    await link.open()
    await expect.poll(call).toBe(502)
    expect(await healthy()).toBe('0')

    node.behave = (sent) => result(sent, '"0x1"')
    expect(await call()).toBe(200)
    expect(await healthy()).toBe('1')
  })
})

describe('what fails first', () => {
  const callTwice = async (url: string): Promise<void> => {
    const visitor = createVisitor(url)
    await visitor.get('POST /api/account', { body: { email: 'ann@example.org', password: 'plum tin roof gate' } })
    const { url: address } = await visitor.get('POST /api/keys', { body: { name: 'ci', network: 'testnet' } })
    for (let call = 0; call < 2; call += 1)
      expect((await post(address, '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}')).status).toBe(200)
  }

  test('the key cache, the limits and the connections are counted', async () => {
    const node = await startNode()
    const { url, metric, service, configWith } = await start([{ url: node.url }])
    await callTwice(url)
    expect(await metric('keyrail_key_cache_max_entries')).toEqual(['keyrail_key_cache_max_entries 5000'])
    const [misses = ''] = await metric('keyrail_key_cache_misses_total')
    // The change feed can bring the creation of the key between the two calls. That evicts it once.
    expect(misses).toMatch(/^keyrail_key_cache_misses_total [12]$/)
    const hits = misses.endsWith(' 1') ? 1 : 0
    expect(await metric('keyrail_key_cache_hits_total')).toEqual([`keyrail_key_cache_hits_total ${hits}`])
    expect(await metric('keyrail_key_cache_entries')).toEqual(['keyrail_key_cache_entries 1'])
    await service.reload(configWith([{ url: node.url, name: 'other' }]))
    expect(await metric('keyrail_key_cache_entries')).toEqual(['keyrail_key_cache_entries 1'])
    expect(await metric('keyrail_limit_decisions_total')).toContain('keyrail_limit_decisions_total{result="granted"} 2')
    expect(await metric('keyrail_http_connections')).not.toEqual(['keyrail_http_connections 0'])
    expect(await metric('keyrail_http_requests_in_flight')).toEqual(['keyrail_http_requests_in_flight 0'])
    expect(await metric('keyrail_call_slots_used')).toContain('keyrail_call_slots_used{network="testnet"} 0')
    expect(await metric('keyrail_calls_queued')).toContain('keyrail_calls_queued{network="testnet"} 0')
  })

  test('waits for Redis are measured', needs('redis-server'), async () => {
    const redis = await startRedis()
    toStop.push(redis.stop)
    const { url, metric } = await start([{ url: (await startNode()).url }], redis.url)
    await callTwice(url)
    expect(await metric('keyrail_limit_wait_seconds_count')).toEqual(['keyrail_limit_wait_seconds_count 2'])
    expect(await metric('keyrail_redis_pending_commands')).toHaveLength(1)
    await expect.poll(() => metric('keyrail_store_check_duration_seconds')).toHaveLength(2)
  })
})

describe('keyrail_config_reloads_total', () => {
  test('counts the reloads of the config file, also those that were rejected', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keyrail-metrics-'))
    toStop.push(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'keyrail.config.json')
    const config = {
      publicUrl: 'http://127.0.0.1:8080',
      listen: { port: 0 },
      prometheus: { port: 0 },
      storage: { file: 'keyrail.db' },
      networks: { testnet: { chainId: chainIds.testnet, upstreams: [{ url: (await startNode()).url }] } },
    }
    writeFileSync(file, JSON.stringify(config))
    const environment = { KEYRAIL_SECRET: randomBytes(32).toString('hex') }
    const running = await startFromFile({ file, write: () => {}, version: '1.2.3', environment })
    toStop.push(() => running.close({ graceMs: 0, drainDelayMs: 0 }))
    const scrape = async (): Promise<string[]> =>
      (await (await fetch(`http://127.0.0.1:${running.listening.prometheusPort}/metrics`)).text()).split('\n')
    expect((await scrape()).join('\n')).toContain('keyrail_build_info{version="1.2.3",node="')
    expect(await scrape()).toContain('keyrail_config_last_reload_successful 1')
    writeFileSync(file, JSON.stringify({ ...config, networks: {} }))
    await running.reload()
    expect(await scrape()).toContain('keyrail_config_last_reload_successful 0')
    expect(await scrape()).toContain('keyrail_config_reloads_total{result="rejected"} 1')
    writeFileSync(file, JSON.stringify(config))
    await running.reload()
    expect(await scrape()).toContain('keyrail_config_last_reload_successful 1')
    expect(await scrape()).toContain('keyrail_config_reloads_total{result="applied"} 1')
  })
})

describe('keyrail_degraded', () => {
  test('is 0 for each available store', async () => {
    const { metric } = await start([{ url: (await startNode()).url }])
    expect(await metric('keyrail_degraded')).toEqual(['keyrail_degraded{part="database"} 0'])
  })

  test('is 1 for an unavailable store', needs('redis-server'), async () => {
    const redis = await startRedis()
    toStop.push(redis.stop)
    const { metric } = await start([{ url: (await startNode()).url }], redis.url)
    const both = ['keyrail_degraded{part="database"} 0', 'keyrail_degraded{part="redis"} 0']
    expect(await metric('keyrail_degraded')).toEqual(both)
    await redis.stop()
    await expect.poll(() => metric('keyrail_degraded')).toEqual([both[0], 'keyrail_degraded{part="redis"} 1'])
  })
})
