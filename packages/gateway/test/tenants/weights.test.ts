import { budget, createTransport } from '@keyrail/core'
import type { BudgetOptions } from '@keyrail/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createApiKey } from '../../src/index.ts'
import { createLocalLimits } from '../../src/usage/limits/createLocalLimits.ts'
import type { TestOptions } from '../createTestGateway.ts'
import type { Quota, UsageLimits } from '../../src/usage/limits/usageLimits.ts'
import type { KeyLimits } from '../../src/auth/key/keyStore.ts'
import { createRateLimiter } from '../../src/usage/rateLimit/createRateLimiter.ts'
import { startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream } from '../fakeUpstream.ts'
import { chainIds, unreachableUrl, post, startGateway } from '../startGateway.ts'
import type { StartedGateway } from '../startGateway.ts'
import { batch, call, noLimits, noon, summarize } from './startTenants.ts'

const weights = { eth_getLogs: 20, eth_call: 5, eth_chainId: 1 }

interface Started extends StartedGateway {
  readonly upstream: FakeUpstream
  readonly options: TestOptions
  /** Creates an app. @returns The URL of its key. */
  readonly addApp: (limits: Partial<KeyLimits>) => string
  readonly getUsedToday: () => Promise<number>
}

/** Starts a gateway with weights and real limits in memory, whose clock does not move unless `now` is given. */
const start = async (more: Partial<TestOptions> = {}): Promise<Started> => {
  const upstream = await startFakeUpstream(chainIds.testnet)
  onTestFinished(upstream.stop)
  const { now = () => noon } = more
  const limits: UsageLimits = createLocalLimits({ now, rates: createRateLimiter({ now }) })
  onTestFinished(() => limits.close())
  const shared = { now, usageLimits: limits, limits: { weights }, ...more }
  const started = await startGateway({ testnet: [upstream.url] }, shared)
  onTestFinished(() => started.gateway.close({ graceMs: 0 }))
  const quota: Quota = { id: 'app:app_w', perDay: null, perMonth: null }
  return {
    ...started,
    upstream,
    options: {
      networks: {
        testnet: { chainId: chainIds.testnet, upstreams: [{ url: upstream.url }] },
        mainnet: { chainId: chainIds.mainnet, upstreams: [{ url: unreachableUrl }] },
      },
      keys: started.keys,
      ...shared,
    },
    addApp: (given) => {
      const key = createApiKey('app')
      started.keys.add(key, {
        id: 'key_w',
        kind: 'app',
        networks: ['testnet'],
        status: 'active',
        appId: 'app_w',
        services: ['Node API'],
        limits: { ...noLimits, ...given },
      })
      return `${started.url}/testnet/v2/${key}`
    },
    getUsedToday: async () => (await limits.usage(quota)).day.used,
  }
}

const getLogs = call('eth_getLogs', '[{}]')
const getHeaders = (headers: Headers, ...names: readonly string[]): (string | null)[] =>
  names.map((name) => headers.get(`x-ratelimit-${name}`))

describe('a call with a weight', () => {
  test('is charged its weight, which the headers show', async () => {
    const { addApp, getUsedToday } = await start()
    const url = addApp({ perSecond: 10, burst: 100, perDay: 1_000 })
    const first = await post(url, getLogs)
    expect(summarize(first)).toEqual([200, '0x1'])
    expect(getHeaders(first.headers, 'cost', 'limit', 'remaining', 'remaining-day')).toEqual(['20', '10', '80', '980'])
    const second = await post(url, call('eth_gasPrice'))
    expect(getHeaders(second.headers, 'cost', 'remaining', 'remaining-day')).toEqual(['1', '79', '979'])
    expect(await getUsedToday()).toBe(21)
  })

  test('counts in a batch, where calls that are rejected for other reasons cost no quota', async () => {
    const { addApp, getUsedToday } = await start()
    const url = addApp({ perSecond: 10, burst: 100, perDay: 1_000 })
    const response = await post(url, batch('eth_getLogs', 'nope', 'eth_call', 'eth_gasPrice'))
    expect(summarize(response)).toEqual([200, '0x1', 'method_not_found', '0x1', '0x1'])
    expect(getHeaders(response.headers, 'cost', 'remaining', 'remaining-day')).toEqual(['26', '73', '974'])
    expect(await getUsedToday()).toBe(26)
  })

  test('is returned with its weight if no node received it', async () => {
    const { addApp, getUsedToday, upstream } = await start()
    await upstream.stop()
    const url = addApp({ perDay: 1_000 })
    expect((await post(url, getLogs)).status).toBe(503)
    expect((await post(url, batch('eth_getLogs', 'eth_call'))).status).toBe(200)
    expect(await getUsedToday()).toBe(0)
  })
})

describe('a call that counts as more than what is left', () => {
  test('is rejected by the rate, with its weight in the message', async () => {
    const { addApp } = await start()
    const url = addApp({ perSecond: 10, burst: 30 })
    await post(url, getLogs)
    const rejected = await post(url, getLogs)
    expect([rejected.status, JSON.parse(rejected.text)]).toMatchObject([
      429,
      {
        error: {
          message: 'Request rate exceeded: 10 requests per second (eth_getLogs counts as 20 requests, 10 left)',
          // 10 more at 10 a second. A burst refills in 3 seconds, and 40 were requested.
          data: { reason: 'rate_limited', limit: 10, retryAfterMs: 1_000, allowed_rps: 10, current_rps: 13.4 },
        },
      },
    ])
    expect(getHeaders(rejected.headers, 'cost', 'remaining')).toEqual(['0', '10'])
    expect(summarize(await post(url, call('eth_gasPrice')))).toEqual([200, '0x1'])
  })

  test('is rejected by the quota, with its weight in the message, and cheaper calls still fit', async () => {
    const { addApp, getUsedToday } = await start()
    const url = addApp({ perDay: 30 })
    await post(url, getLogs)
    const rejected = await post(url, getLogs)
    expect([rejected.status, JSON.parse(rejected.text)]).toMatchObject([
      403,
      {
        error: {
          message:
            'Daily request limit of 30 reached (eth_getLogs counts as 20 requests, 10 left); resets at 2026-11-22T00:00:00Z',
          data: { reason: 'quota_exceeded', limit: 30, used: 20, window: 'day' },
        },
      },
    ])
    expect(getHeaders(rejected.headers, 'cost', 'remaining-day')).toEqual(['0', '10'])
    for (let calls = 0; calls < 10; calls += 1) expect((await post(url, call('eth_gasPrice'))).status).toBe(200)
    const { text } = await post(url, getLogs)
    expect(text).toContain('Daily request limit of 30 reached; resets at')
    expect(await getUsedToday()).toBe(30)
  })

  test('names in a batch the first call that did not fit', async () => {
    const { addApp } = await start()
    const url = addApp({ perDay: 28 })
    const { text } = await post(url, batch('eth_gasPrice', 'eth_getLogs', 'eth_call', 'eth_call', 'eth_gasPrice'))
    expect(summarize({ status: 200, text })).toEqual([200, '0x1', '0x1', '0x1', 'quota_exceeded', 'quota_exceeded'])
    const messages = text.match(/eth_\w+ counts as \d+ requests, \d+ left/g)
    expect(messages).toEqual(Array(2).fill('eth_call counts as 5 requests, 2 left'))
    const none = await post(url, batch('nope', 'eth_call', 'eth_gasPrice'))
    expect(summarize(none)).toEqual([403, 'quota_exceeded'])
    expect(none.text).toContain('eth_call counts as 5 requests, 2 left')
  })
})

describe('X-RateLimit-Cost', () => {
  test.each([
    ['no weights', {}],
    ['only weights of 1', { eth_getLogs: 1 }],
  ])('is absent with %s', async (_, none) => {
    const { addApp } = await start({ limits: { weights: none } })
    const { headers } = await post(addApp({ perSecond: 10, perDay: 1_000 }), getLogs)
    expect(getHeaders(headers, 'cost', 'remaining', 'remaining-day')).toEqual([null, '999', '999'])
  })

  test('is absent if nothing limits the key', async () => {
    const { addApp } = await start()
    expect(getHeaders((await post(addApp({}), getLogs)).headers, 'cost')).toEqual([null])
  })

  test('is 0 for a request whose rate is used up', async () => {
    const { addApp } = await start()
    const url = addApp({ perSecond: 1, burst: 20 })
    await post(url, getLogs)
    const large = call('eth_call', JSON.stringify(['x'.repeat(20_000)]))
    const rejected = await post(url, large)
    expect([rejected.status, ...getHeaders(rejected.headers, 'cost', 'remaining')]).toEqual([429, '0', '0'])
    expect(rejected.text).toContain('Request rate exceeded: 1 requests per second"')
  })
})

test('a reload applies weights', async () => {
  const { addApp, gateway, options } = await start()
  const url = addApp({ perDay: 1_000 })
  await gateway.reload({ ...options, limits: { weights: { eth_getLogs: 7 } } })
  expect(getHeaders((await post(url, getLogs)).headers, 'cost')).toEqual(['7'])
  await gateway.reload({ ...options, limits: {} })
  expect(getHeaders((await post(url, getLogs)).headers, 'cost', 'remaining-day')).toEqual([null, '992'])
})

// docs/service/limits.md, "Weights": what the SDK's budget must be given.
test.each<[string, BudgetOptions, boolean]>([
  ['the weights', { computeUnitsPerSecond: 180, burst: 20, computeUnits: { eth_getLogs: 20 } }, true],
  ['requests', { requestsPerSecond: 180, burst: 20 }, false],
])("the SDK's budget in units of %s", async (_, options, fits) => {
  // With a fixed clock, no bucket refills while a busy machine sends the calls.
  const startedAt = Date.now()
  const { addApp } = await start({ now: fits ? Date.now : () => startedAt })
  const transport = createTransport({ url: addApp({ perSecond: 200, burst: 60 }), budget: budget(options) })
  const sent = Array.from({ length: 8 }, (__, block) =>
    transport.request({ method: 'eth_getLogs', params: [{ fromBlock: `0x${block}` }] }),
  )
  const kinds = (await Promise.allSettled(sent)).map((one) =>
    one.status === 'fulfilled' ? 'ok' : (one.reason as { kind?: string }).kind,
  )
  expect(new Set(kinds)).toEqual(new Set(fits ? ['ok'] : ['ok', 'throttled']))
})

test("after a quota rejected a call by its weight, the SDK's budget sends nothing, although cheaper calls would fit", async () => {
  const { addApp, upstream } = await start({ now: Date.now })
  const transport = createTransport({ url: addApp({ perDay: 30 }), budget: budget() })
  const request = { method: 'eth_getLogs', params: [{}] } as const
  expect(await transport.request(request)).toBe('0x1')
  await expect(transport.request(request)).rejects.toMatchObject({ kind: 'quota', source: 'service' })
  const before = upstream.bodies.length
  await expect(transport.request({ method: 'eth_gasPrice' })).rejects.toMatchObject({ kind: 'quota', source: 'client' })
  expect(upstream.bodies.length).toBe(before)
})
