import { afterEach, describe, expect, test } from 'vitest'
import type { GatewayOptions } from '../../src/index.ts'
import { result } from '../fakeUpstream.ts'
import { openRaw, postBytes } from '../rawConnection.ts'
import { post } from '../startGateway.ts'
import { batch, call, noLimits, noon, said, startTenants } from './startTenants.ts'
import type { StartedTenants } from './startTenants.ts'

const toStop: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0)) await stop()
})
const start = async (options: Partial<GatewayOptions> = {}, how: { later?: boolean } = {}): Promise<StartedTenants> => {
  const started = await startTenants(options, how)
  toStop.push(started.stop)
  return started
}
const read = call('eth_gasPrice')
const limitHeaders = (headers: Headers): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => /^(?:x-ratelimit|retry-after)/.test(name)))
const midnight = String(Date.UTC(2026, 10, 22) / 1000)

describe.each([
  ['decided here', false],
  ['decided elsewhere, as by Redis', true],
])('a rate %s', (_, later) => {
  test('is told on every answer, and passing it is 429 with the time to wait, until that has passed', async () => {
    const { addApp, clock } = await start({}, { later })
    const { path } = addApp({ limits: { ...noLimits, perSecond: 10, burst: 2 } })
    const first = await post(path, read)
    expect(said(first)).toEqual([200, '0x1'])
    expect(limitHeaders(first.headers)).toEqual({
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': String(noon / 1000 + 1),
    })
    expect(said(await post(path, read))).toEqual([200, '0x1'])
    const third = await post(path, read)
    expect([third.status, JSON.parse(third.text)]).toMatchObject([
      429,
      {
        id: 1,
        error: {
          code: -32005,
          message: 'Request rate exceeded: 10 requests per second',
          data: {
            reason: 'rate_limited',
            limit: 10,
            window: 'second',
            retryAfterMs: 100,
            backoff_seconds: 1,
            allowed_rps: 10,
            current_rps: 15,
          },
        },
      },
    ])
    expect(limitHeaders(third.headers)).toEqual({
      'retry-after': 'Sat, 21 Nov 2026 12:00:01 GMT',
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(noon / 1000 + 1),
    })
    clock.now += 100
    expect(said(await post(path, read))).toEqual([200, '0x1'])
  })

  test('of a batch the first that fit go on, and the rest are rejected each in its place', async () => {
    const { addApp, upstream } = await start({}, { later })
    const { path } = addApp({ limits: { ...noLimits, perSecond: 10, burst: 2 } })
    const answer = await post(path, batch('eth_gasPrice', 'nope', 'eth_blockNumber', 'eth_maxPriorityFeePerGas'))
    expect(said(answer)).toEqual([200, '0x1', 'method_not_found', '0x1', 'rate_limited'])
    expect(limitHeaders(answer.headers)).not.toHaveProperty('retry-after')
    expect(upstream.bodies.join()).not.toContain('eth_maxPriorityFeePerGas')
  })

  test('is paid for what is rejected too: over it nothing else is said', async () => {
    const { addApp, clock } = await start({}, { later })
    const { path } = addApp({ limits: { ...noLimits, perSecond: 10, burst: 4 } })
    expect(said(await post(path, batch('nope', 'nope', 'nope')))).toEqual([200, ...Array(3).fill('method_not_found')])
    const last = await post(path, call('nope'))
    expect([said(last), last.headers.get('x-ratelimit-remaining')]).toEqual([[200, 'method_not_found'], '0'])
    expect(said(await post(path, call('nope')))).toEqual([429, 'rate_limited'])
    expect(said(await post(path, batch('nope', 'eth_gasPrice', 'nope')))).toEqual([
      200,
      'method_not_found',
      'rate_limited',
      'method_not_found',
    ])
    expect(said(await post(path, batch('nope', 'nope')))).toEqual([200, 'rate_limited', 'rate_limited'])
    clock.now += 100
    expect(said(await post(path, call('nope')))).toEqual([200, 'method_not_found'])
  })
})

describe.each([['now' as const], ['later' as const]])('a quota that answers %s', (mode) => {
  test('is told on every answer, and once it is used up all is 403 until midnight', async () => {
    const { addApp, quota, upstream } = await start()
    quota.mode = mode
    const { path } = addApp({ appId: 'app_q', limits: { ...noLimits, perDay: 2 } })
    const first = await post(path, read)
    expect(said(first)).toEqual([200, '0x1'])
    expect(limitHeaders(first.headers)).toEqual({
      'x-ratelimit-limit-day': '2',
      'x-ratelimit-remaining-day': '1',
      'x-ratelimit-reset-day': midnight,
    })
    await post(path, read)
    const third = await post(path, read)
    expect([third.status, JSON.parse(third.text)]).toMatchObject([
      403,
      {
        id: 1,
        error: {
          code: -32005,
          message: 'Daily request limit of 2 reached; resets at 2026-11-22T00:00:00Z',
          data: { reason: 'quota_exceeded', limit: 2, used: 2, resetAt: '2026-11-22T00:00:00Z', window: 'day' },
        },
      },
    ])
    expect(limitHeaders(third.headers)).toEqual({
      'x-ratelimit-limit-day': '2',
      'x-ratelimit-remaining-day': '0',
      'x-ratelimit-reset-day': midnight,
    })
    expect([quota.used('app:app_q'), upstream.bodies.length]).toEqual([2, 2])
  })

  test('of a batch the first that fit go on', async () => {
    const { addApp, quota } = await start()
    quota.mode = mode
    const { path } = addApp({ appId: 'app_q', limits: { ...noLimits, perDay: 2 } })
    expect(said(await post(path, batch('nope', 'eth_gasPrice', 'eth_blockNumber', 'eth_gasPrice')))).toEqual([
      200,
      'method_not_found',
      '0x1',
      '0x1',
      'quota_exceeded',
    ])
    expect(quota.used('app:app_q')).toBe(2)
  })
})

describe('a quota', () => {
  test('is 429 with Retry-After where the operator chose that, and the reason is the same', async () => {
    const { addApp } = await start({ quotaStatus: 429 })
    const { path } = addApp({ limits: { ...noLimits, perDay: 0 } })
    const answer = await post(path, read)
    expect(said(answer)).toEqual([429, 'quota_exceeded'])
    expect(answer.headers.get('retry-after')).toBe('Sun, 22 Nov 2026 00:00:00 GMT')
  })

  test('by the month says so', async () => {
    const { addApp } = await start()
    const { path } = addApp({ limits: { ...noLimits, perMonth: 0 } })
    const answer = await post(path, read)
    expect(JSON.parse(answer.text)).toMatchObject({
      error: {
        message: 'Monthly request limit of 0 reached; resets at 2026-12-01T00:00:00Z',
        data: { window: 'month' },
      },
    })
    expect(limitHeaders(answer.headers)).toMatchObject({ 'x-ratelimit-limit-month': '0' })
  })

  test("of API keys is their user's, and of an app its own", async () => {
    const { addApp, addApiKey, quota } = await start()
    const limits = { ...noLimits, perDay: 100 }
    const own = { userId: 'usr_1', limits }
    for (const { path } of [addApiKey(own), addApiKey(own), addApp({ ...own, appId: 'app_1' })]) await post(path, read)
    expect([quota.used('user:usr_1'), quota.used('app:app_1')]).toEqual([2, 1])
  })

  test('does not count what is rejected, counts what a node received, and returns what none did', async () => {
    const { addApp, quota, upstream } = await start({ limits: { upstreamTimeoutMs: 300 } })
    const { path } = addApp({ appId: 'app_q', limits: { ...noLimits, perDay: 100 } })
    for (const rejected of ['{', '[]', call('nope'), call('eth_call', '1')]) await post(path, rejected)
    expect(quota.used('app:app_q')).toBe(0)
    upstream.behave = (seen) => `{"jsonrpc":"2.0","id":${seen.id},"error":{"code":3,"message":"execution reverted"}}`
    await post(path, read)
    expect(quota.used('app:app_q')).toBe(1)
    await post(path, '{"jsonrpc":"2.0","method":"eth_gasPrice"}')
    expect(quota.used('app:app_q')).toBe(2)
    upstream.behave = () => undefined
    expect(said(await post(path, read))).toEqual([504, 'upstream_timeout'])
    expect(quota.used('app:app_q')).toBe(3)
    upstream.behave = (seen) => (seen.method === 'eth_gasPrice' ? result(seen, '1') : undefined)
    expect(said(await post(path, batch('eth_blockNumber', 'eth_getLogs', 'nope')))).toEqual([
      200,
      'upstream_timeout',
      'upstream_timeout',
      'method_not_found',
    ])
    expect(quota.used('app:app_q')).toBe(5)
    await upstream.stop()
    expect(said(await post(path, read))).toEqual([503, 'no_upstream'])
    expect(said(await post(path, batch('eth_blockNumber', 'eth_getLogs', 'nope')))).toEqual([
      200,
      'no_upstream',
      'no_upstream',
      'method_not_found',
    ])
    expect([quota.used('app:app_q'), quota.givenBack]).toEqual([5, [1, 2]])
  })

  test('that cannot be asked is 503 and not a quota that is used up; nothing is forwarded', async () => {
    const { addApp, quota, upstream, entries, meter } = await start()
    quota.mode = 'gone'
    const { path } = addApp({ id: 'key_g', limits: { ...noLimits, perDay: 100 } })
    for (const body of [read, batch('eth_gasPrice', 'eth_blockNumber')]) {
      const answer = await post(path, body)
      expect(said(answer)).toEqual([503, 'key_store_unavailable'])
    }
    expect(upstream.bodies).toEqual([])
    expect(entries).toContainEqual({ event: 'fault', where: 'quota', code: 'other', count: 1 })
    expect(meter.counted).toEqual(
      ['eth_gasPrice', 'eth_gasPrice', 'eth_blockNumber'].map((each) => `key_g testnet ${each} key_store_unavailable`),
    )
  })

  test('granted to a caller that has gone meanwhile is given back, and nothing is forwarded for it', async () => {
    const { addApp, quota, upstream, port, entries } = await start()
    const { path } = addApp({ appId: 'app_q', limits: { ...noLimits, perDay: 100 } })
    let grant = (): void => {}
    const take = quota.take.bind(quota)
    quota.take = (account, items) =>
      new Promise((resolve) => {
        grant = () => resolve(take(account, items))
      })
    const connection = await openRaw(port)
    connection.send(postBytes(new URL(path).pathname, read))
    await expect.poll(() => grant.name).toBe('grant')
    connection.reset()
    await expect.poll(() => entries.some(({ event }) => event === 'disconnected')).toBe(true)
    grant()
    await expect.poll(() => quota.givenBack).toEqual([1])
    expect([quota.used('app:app_q'), upstream.bodies]).toEqual([0, []])
  })
})

test('a key without limits has no headers of them, and is not counted', async () => {
  const { addApp, quota } = await start()
  const { path } = addApp({ appId: 'app_q' })
  expect(limitHeaders((await post(path, read)).headers)).toEqual({})
  expect(quota.used('app:app_q')).toBe(0)
})

test('both limits are told at once, and the rate comes first', async () => {
  const { addApp } = await start()
  const { path } = addApp({ limits: { perSecond: 5, burst: 3, perDay: 2, perMonth: null } })
  const answer = await post(path, batch(...Array.from({ length: 4 }, () => 'eth_gasPrice')))
  expect(said(answer)).toEqual([200, '0x1', '0x1', 'quota_exceeded', 'rate_limited'])
  expect(limitHeaders(answer.headers)).toEqual({
    'x-ratelimit-limit': '5',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(noon / 1000 + 1),
    'x-ratelimit-limit-day': '2',
    'x-ratelimit-remaining-day': '0',
    'x-ratelimit-reset-day': midnight,
  })
  expect(answer.headers.get('access-control-expose-headers')).toBe('*')
})
