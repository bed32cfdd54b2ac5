import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createService, openOperatorTools, parseServiceConfig, readServerSecrets } from '../../src/index.ts'
import type { Service, ServiceConfigInput } from '../../src/index.ts'
import { startFakeUpstream } from '../fakeUpstream.ts'
import { chainIds, post } from '../startGateway.ts'
import { createVisitor } from './visitor.ts'
import type { Visitor } from './visitor.ts'

const toStop: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

const noon = Date.UTC(2026, 10, 21, 12)

type Weights = Readonly<Record<string, number>>

interface Started {
  readonly service: Service
  readonly visitor: Visitor
  readonly userId: string
  readonly reload: (weights: Weights) => Promise<readonly string[]>
  /** Gets the lines of a metric. */
  readonly getMetric: (name: string) => Promise<string[]>
  /** Creates an app. @returns Its id, its version, and the URL of its key. */
  readonly createApp: () => Promise<{ id: string; version: number; url: string }>
}

const toConfig = (node: string, weights: Weights): ServiceConfigInput => ({
  publicUrl: 'http://localhost',
  listen: { port: 0 },
  prometheus: { port: 0 },
  signUp: 'open',
  networks: {
    testnet: { chain: 'testland', chainId: chainIds.testnet, upstreams: [{ url: node }] },
    mainnet: { chain: 'testland', chainId: chainIds.testnet, upstreams: [{ url: node }] },
  },
  limits: { weights },
})

/** Starts a service with weights and one account. */
const start = async (weights: Weights): Promise<Started> => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-weights-'))
  toStop.push(() => rmSync(folder, { recursive: true, force: true }))
  const node = await startFakeUpstream(chainIds.testnet)
  toStop.push(node.stop)
  const configWith = (given: Weights) => {
    // The port is only known once the service listens.
    const { publicUrl: _, ...config } = parseServiceConfig(toConfig(node.url, given))
    return config
  }
  const service = await createService({
    config: configWith(weights),
    secrets: readServerSecrets({ KEYRAIL_SECRET: randomBytes(32).toString('hex') }),
    storage: { file: join(folder, 'keyrail.db') },
    now: () => noon,
  })
  toStop.push(() => service.close({ graceMs: 0 }))
  const { url, prometheusPort } = await service.listen()
  const visitor = createVisitor(url)
  const { account } = await visitor.get('POST /api/account', {
    body: { email: 'ann@example.org', password: 'plum tin roof gate' },
  })
  return {
    service,
    visitor,
    userId: account.id,
    reload: (given) => service.reload(configWith(given)),
    getMetric: async (name) => {
      const text = await (await fetch(`http://127.0.0.1:${prometheusPort}/metrics`)).text()
      return text.split('\n').filter((line) => line.startsWith(`${name}{`))
    },
    createApp: async () => {
      const { app, addresses } = await visitor.get('POST /api/apps', {
        body: { name: 'Shop', useCase: 'Defi', chain: 'testland', services: ['Node API'] },
      })
      return { id: app.id, version: app.version, url: addresses['testnet'] ?? '' }
    },
  }
}

const getLogs = '{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{}]}'

test('weights are in usage and in metrics, and a reload changes them', async () => {
  const { visitor, createApp, getMetric, reload } = await start({ eth_call: 26, eth_chainId: 1, eth_getLogs: 75 })
  const { id, url } = await createApp()
  const charged = await post(url, getLogs)
  expect([charged.headers.get('x-ratelimit-cost'), charged.headers.get('x-ratelimit-remaining-day')]).toEqual([
    '75',
    '99925',
  ])
  const usage = await visitor.get('GET /api/apps/{appId}/usage', { params: { appId: id } })
  expect(usage.day.used).toBe(75)
  // The highest first, without those of 1.
  expect(Object.entries(usage.weights)).toEqual([
    ['eth_getLogs', 75],
    ['eth_call', 26],
  ])
  expect((await visitor.get('GET /api/usage')).weights).toEqual(usage.weights)
  const labels = '{network="testnet",method="eth_getLogs",outcome="succeeded"}'
  expect(await getMetric('keyrail_calls_total')).toEqual([`keyrail_calls_total${labels} 1`])
  expect(await getMetric('keyrail_units_total')).toEqual([`keyrail_units_total${labels} 75`])

  expect(await reload({ eth_getLogs: 10 })).toEqual([])
  expect((await post(url, getLogs)).headers.get('x-ratelimit-cost')).toBe('10')
  expect((await visitor.get('GET /api/usage')).weights).toEqual({ eth_getLogs: 10 })
  expect(await getMetric('keyrail_units_total')).toEqual([`keyrail_units_total${labels} 85`])

  await reload({})
  expect((await post(url, getLogs)).headers.get('x-ratelimit-cost')).toBeNull()
  expect((await visitor.get('GET /api/usage')).weights).toEqual({})
})

const fix = 'must be at least 75, the highest weight of a method, because a call above the burst is never granted'

test('a burst below the highest weight is rejected for an app and for a user', async () => {
  const { service, visitor, createApp, userId, reload } = await start({ eth_getLogs: 75 })
  const { id, version } = await createApp()
  const edit = (burst: number) => visitor.ask('PATCH', `/api/apps/${id}`, { version, limits: { burst } })
  const setUser = (limits: { burst?: number; perSecond?: number }) =>
    service.accounts.operator.setUserLimits({ id: userId, limits })
  expect(await edit(74)).toMatchObject({
    status: 422,
    json: { error: { code: 'invalid', message: `limits.burst ${fix}`, fields: [{ field: 'limits.burst', fix }] } },
  })
  const rejected = { status: 422, code: 'limits_invalid', message: `burst ${fix}.`, field: 'limits.burst' }
  expect(await setUser({ burst: 74 })).toEqual(rejected)
  // A burst that is left out is the service's, which is checked with the weights.
  expect(await setUser({ perSecond: 1 })).toMatchObject({ limits: { perSecond: 1 } })
  expect(await setUser({ burst: 75 })).toMatchObject({ limits: { burst: 75 } })
  expect((await edit(75)).status).toBe(200)
  await reload({ eth_getLogs: 76 })
  expect(await setUser({ burst: 75 })).toMatchObject({ code: 'limits_invalid' })
})

test('the operator commands reject a burst below the highest weight', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-weights-'))
  toStop.push(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'keyrail.config.json')
  const config = { ...toConfig('http://127.0.0.1:9', { eth_getLogs: 75 }), storage: { file: 'keyrail.db' } }
  writeFileSync(file, JSON.stringify(config))
  const { users, close } = await openOperatorTools(file, { environment: {} })
  toStop.push(close)
  const added = await users.addUser({ email: 'ann@example.org', password: 'plum tin roof gate' })
  const id = 'id' in added ? added.id : ''
  expect(await users.setUserLimits({ id, limits: { burst: 74 } })).toMatchObject({ message: `burst ${fix}.` })
  expect(await users.setUserLimits({ id, limits: { burst: 75 } })).toMatchObject({ limits: { burst: 75 } })
})

test('the example in docs/service/limits.md is valid', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/service/limits.md'), 'utf8')
  const [, example = ''] = /## Weights[\s\S]*?```json\n([\s\S]*?)```/.exec(page) ?? []
  const config = parseServiceConfig({ ...toConfig('http://127.0.0.1:9', {}), ...(JSON.parse(example) as object) })
  expect(config.limits.weights).toEqual({ eth_getLogs: 75, eth_call: 5, debug_traceTransaction: 300 })
})
