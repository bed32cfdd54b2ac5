import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceConfigInput } from '../../src/service/serviceConfig.ts'
import { startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream } from '../fakeUpstream.ts'
import { chainIds, post } from '../startGateway.ts'
import { getFreePort } from '../getFreePort.ts'
import { describeKinds, places } from './places.ts'
import type { Place } from './places.ts'
import { startServe, writeConfig } from './serviceProcess.ts'
import type { ServiceProcess } from './serviceProcess.ts'
import { createVisitor } from './visitor.ts'

// Runs the installed service and uses it over HTTP only, as its users do.

const read = '{"jsonrpc":"2.0","id":7,"method":"eth_blockNumber","params":[]}'
const password = randomBytes(12).toString('base64url')

describeKinds(places, 'keyrail serve', ({ open }) => {
  let place: Place
  let nodes: Record<'testnet' | 'mainnet', FakeUpstream>
  let service: ServiceProcess
  let config: ServiceConfigInput

  beforeAll(async () => {
    place = await open()
    nodes = {
      testnet: await startFakeUpstream(chainIds.testnet),
      mainnet: await startFakeUpstream(chainIds.mainnet),
    }
    const port = await getFreePort()
    config = {
      publicUrl: `http://127.0.0.1:${port}`,
      listen: { port },
      prometheus: { port: 0 },
      signUp: 'open',
      networks: {
        testnet: { chain: 'testland', chainId: chainIds.testnet, upstreams: [{ url: nodes.testnet.url }] },
        mainnet: { chain: 'testland', chainId: chainIds.mainnet, upstreams: [{ url: nodes.mainnet.url }] },
      },
      ...(place.storage === undefined ? {} : { storage: place.storage }),
    }
    service = await startServe(writeConfig(place.folder, config), place.environment)
  })

  afterAll(async () => {
    const { exitCode, stderr } = await service.stop()
    for (const node of Object.values(nodes)) await node.stop()
    await place.close()
    expect([exitCode, stderr]).toEqual([0, ''])
  })

  test('a user signs up, creates an app, calls both networks, sees the calls counted and logged, and deletes the app', async () => {
    const ann = createVisitor(service.url)
    await ann.get('POST /api/account', { body: { email: 'ann@example.org', password } })
    const { app, apiKey, urls } = await ann.get('POST /api/apps', {
      body: { name: 'Ann’s app', useCase: 'Wallet', chain: 'testland', services: ['Node API'] },
    })
    expect(urls).toEqual({
      testnet: `${service.url}/testnet/v2/${apiKey}`,
      mainnet: `${service.url}/mainnet/v2/${apiKey}`,
    })
    for (const network of ['testnet', 'mainnet'] as const) {
      const { status, text, headers } = await post(urls[network] ?? '', read)
      expect([status, text]).toEqual([200, '{"jsonrpc":"2.0","id":7,"result":"0x1"}'])
      expect(headers.get('x-chain-id')).toBe(String(chainIds[network]))
    }
    await expect
      .poll(() => ann.get('GET /api/apps/{appId}/metrics', { params: { appId: app.id }, query: '?range=hour' }))
      .toMatchObject({ total: 2, succeeded: 2, successRate: 1 })
    await post(urls['testnet'] ?? '', read.replace('eth_blockNumber', 'eth_getBlockCount'))
    const getRequests = () => ann.get('GET /api/apps/{appId}/requests', { params: { appId: app.id } })
    await expect.poll(async () => (await getRequests()).items.length).toBe(3)
    const [failed, ...succeeded] = (await getRequests()).items
    expect(failed).toMatchObject({
      method: 'eth_getBlockCount',
      outcome: 'method_not_found',
      code: -32_601,
      network: 'testnet',
      keyEnding: apiKey.slice(-4),
      ipBlock: '127.0.0.0/24',
    })
    expect(succeeded.map(({ outcome, network }) => [outcome, network])).toEqual([
      ['succeeded', 'mainnet'],
      ['succeeded', 'testnet'],
    ])
    const usage = await ann.get('GET /api/apps/{appId}/usage', { params: { appId: app.id } })
    expect(usage.day).toMatchObject({ limit: 100_000 })
    expect(usage.day.used).toBeGreaterThanOrEqual(2)

    await ann.request('POST', `/api/apps/${app.id}/delete`, { name: 'Ann’s app' })
    const { status, text } = await post(urls['testnet'] ?? '', read)
    expect(status).toBe(401)
    expect(JSON.parse(text)).toMatchObject({ error: { code: -32016, data: { reason: 'key_unknown' } } })
  })

  test('a user has at most four keys, each for one network; a revoked key is rejected at once and no longer counts', async () => {
    const bob = createVisitor(service.url)
    await bob.get('POST /api/account', { body: { email: 'bob@example.org', password } })
    const created = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        bob.request('POST', '/api/keys', { name: `key ${index}`, network: 'testnet' }),
      ),
    )
    expect(created.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      201, 201, 201, 201, 409, 409, 409, 409,
    ])
    const {
      key,
      apiKey,
      url: address,
    } = (created.find(({ status }) => status === 201) ?? { json: {} }).json as {
      key: { id: string }
      apiKey: string
      url: string
    }
    expect((await post(address, read)).status).toBe(200)
    const other = await post(`${service.url}/mainnet/${apiKey}`, read)
    expect([other.status, JSON.parse(other.text)]).toEqual([
      403,
      expect.objectContaining({ error: expect.objectContaining({ code: -32002 }) }),
    ])
    const wrongPath = await post(`${service.url}/testnet/v2/${apiKey}`, read)
    expect(JSON.parse(wrongPath.text)).toMatchObject({ error: { data: { reason: 'key_wrong_path' } } })
    expect((await bob.request('POST', `/api/keys/${key.id}/revoke`, {})).status).toBeLessThan(300)
    const rejected = await post(address, read)
    expect([rejected.status, JSON.parse(rejected.text)]).toEqual([
      401,
      expect.objectContaining({
        error: expect.objectContaining({ data: expect.objectContaining({ reason: 'key_revoked' }) }),
      }),
    ])
    expect((await bob.request('POST', '/api/keys', { name: 'replacement', network: 'mainnet' })).status).toBe(201)
  })

  test('serves health checks, Prometheus metrics and a page', async () => {
    // The dashboard if it is built, else a page that links to the API.
    const page = await fetch(service.url, { headers: { accept: 'text/html' } })
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>Keyrail</title>')])
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await (await fetch(`${service.url}/healthz`)).json()).toEqual({ status: 'ok' })
    expect(await (await fetch(`${service.url}/readyz`)).json()).toEqual({ status: 'ok' })
    const { port } = await service.logged('prometheus', ({ event }) => event === 'prometheusListening')
    const text = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text()
    expect(text).toMatch(
      /^keyrail_calls_total\{network="testnet",method="eth_blockNumber",outcome="succeeded"\} [1-9]/m,
    )
    expect((await fetch(`${service.url}/metrics`)).headers.get('content-type')).not.toMatch(/text\/plain; version/)
  })
})
