import { afterEach, describe, expect, test, vi } from 'vitest'
import { controlTime, until } from '../controlTime.ts'
import { result } from '../fakeUpstream.ts'
import { openRaw, postBytes } from '../rawConnection.ts'
import { post } from '../startGateway.ts'
import { batch, call, noLimits, noon, summarize, openTenants } from './startTenants.ts'

afterEach(() => void vi.useRealTimers())

const read = call('eth_gasPrice')
const getLimitHeaders = (headers: Headers): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => /^(?:x-ratelimit|retry-after)/.test(name)))
const midnight = String(Date.UTC(2026, 10, 22) / 1000)

describe.each([
  ['decided locally', false],
  ['decided asynchronously, as by Redis', true],
])('a rate limit %s', (_, later) => {
  test('is in the headers of every response, and a call over it gets 429 with the time to wait', async () => {
    const { addApp, clock } = await openTenants({}, { later })
    const { path } = addApp({ limits: { ...noLimits, perSecond: 10, burst: 2 } })
    const first = await post(path, read)
    expect(summarize(first)).toEqual([200, '0x1'])
    expect(getLimitHeaders(first.headers)).toEqual({
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': String(noon / 1000 + 1),
    })
    expect(summarize(await post(path, read))).toEqual([200, '0x1'])
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
    expect(getLimitHeaders(third.headers)).toEqual({
      'retry-after': 'Sat, 21 Nov 2026 12:00:01 GMT',
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(noon / 1000 + 1),
    })
    clock.now += 100
    expect(summarize(await post(path, read))).toEqual([200, '0x1'])
  })

  test('grants the first calls of a batch that fit and rejects the rest individually', async () => {
    const { addApp, upstream } = await openTenants({}, { later })
    const { path } = addApp({ limits: { ...noLimits, perSecond: 10, burst: 2 } })
    const response = await post(path, batch('eth_gasPrice', 'nope', 'eth_blockNumber', 'eth_maxPriorityFeePerGas'))
    expect(summarize(response)).toEqual([200, '0x1', 'method_not_found', '0x1', 'rate_limited'])
    expect(getLimitHeaders(response.headers)).not.toHaveProperty('retry-after')
    expect(upstream.bodies.join()).not.toContain('eth_maxPriorityFeePerGas')
  })

  test('also counts rejected calls, and precedes other rejections once it is used up', async () => {
    const { addApp, clock } = await openTenants({}, { later })
    const { path } = addApp({ limits: { ...noLimits, perSecond: 10, burst: 4 } })
    expect(summarize(await post(path, batch('nope', 'nope', 'nope')))).toEqual([
      200,
      ...Array(3).fill('method_not_found'),
    ])
    const last = await post(path, call('nope'))
    expect([summarize(last), last.headers.get('x-ratelimit-remaining')]).toEqual([[200, 'method_not_found'], '0'])
    expect(summarize(await post(path, call('nope')))).toEqual([429, 'rate_limited'])
    expect(summarize(await post(path, batch('nope', 'eth_gasPrice', 'nope')))).toEqual([429, 'rate_limited'])
    const invalid = await post(path, `[${Array(1_000).fill(1).join()}]`)
    expect(summarize(invalid)).toEqual([429, 'rate_limited'])
    expect(invalid.text.length).toBeLessThan(500)
    clock.now += 100
    expect(summarize(await post(path, call('nope')))).toEqual([200, 'method_not_found'])
  })
})

describe.each([['sync' as const], ['async' as const]])('a quota (%s)', (mode) => {
  test('is in the headers of every response, and once it is used up calls get 403 until midnight', async () => {
    const { addApp, usageLimits, upstream } = await openTenants()
    usageLimits.mode = mode
    const { path } = addApp({ appId: 'app_q', limits: { ...noLimits, perDay: 2 } })
    const first = await post(path, read)
    expect(summarize(first)).toEqual([200, '0x1'])
    expect(getLimitHeaders(first.headers)).toEqual({
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
    expect(getLimitHeaders(third.headers)).toEqual({
      'x-ratelimit-limit-day': '2',
      'x-ratelimit-remaining-day': '0',
      'x-ratelimit-reset-day': midnight,
    })
    expect([usageLimits.used('app:app_q'), upstream.bodies.length]).toEqual([2, 2])
  })

  test('grants the first calls of a batch that fit', async () => {
    const { addApp, usageLimits } = await openTenants()
    usageLimits.mode = mode
    const { path } = addApp({ appId: 'app_q', limits: { ...noLimits, perDay: 2 } })
    expect(summarize(await post(path, batch('nope', 'eth_gasPrice', 'eth_blockNumber', 'eth_gasPrice')))).toEqual([
      200,
      'method_not_found',
      '0x1',
      '0x1',
      'quota_exceeded',
    ])
    expect(usageLimits.used('app:app_q')).toBe(2)
  })
})

describe('a quota', () => {
  test('is a 429 with Retry-After and the same reason if the operator configures quotaStatus 429', async () => {
    const { addApp } = await openTenants({ quotaStatus: 429 })
    const { path } = addApp({ limits: { ...noLimits, perDay: 0 } })
    const response = await post(path, read)
    expect(summarize(response)).toEqual([429, 'quota_exceeded'])
    expect(response.headers.get('retry-after')).toBe('Sun, 22 Nov 2026 00:00:00 GMT')
  })

  test('names the month for a monthly limit', async () => {
    const { addApp } = await openTenants()
    const { path } = addApp({ limits: { ...noLimits, perMonth: 0 } })
    const response = await post(path, read)
    expect(JSON.parse(response.text)).toMatchObject({
      error: {
        message: 'Monthly request limit of 0 reached; resets at 2026-12-01T00:00:00Z',
        data: { window: 'month' },
      },
    })
    expect(getLimitHeaders(response.headers)).toMatchObject({ 'x-ratelimit-limit-month': '0' })
  })

  test("API keys use their user's quota, and an app has its own", async () => {
    const { addApp, addApiKey, usageLimits } = await openTenants()
    const limits = { ...noLimits, perDay: 100 }
    const own = { userId: 'usr_1', limits }
    for (const { path } of [addApiKey(own), addApiKey(own), addApp({ ...own, appId: 'app_1' })]) await post(path, read)
    expect([usageLimits.used('user:usr_1'), usageLimits.used('app:app_1')]).toEqual([2, 1])
  })

  test('does not count rejected calls, counts calls that a node received, and returns the others', async () => {
    const pass = controlTime()
    const { addApp, usageLimits, upstream } = await openTenants({ bounds: { upstreamTimeoutMs: 300 } })
    /** Sends calls, some of which the node receives and does not answer. */
    const postUntilTimeout = async (body: string, methods: readonly string[]): Promise<unknown> => {
      upstream.bodies.length = 0
      const pending = post(path, body)
      await until(() => methods.every((method) => upstream.bodies.join().includes(method)))
      pass(300)
      return summarize(await pending)
    }
    const { path } = addApp({ appId: 'app_q', limits: { ...noLimits, perDay: 100 } })
    for (const rejected of ['{', '[]', call('nope'), call('eth_call', '1')]) await post(path, rejected)
    expect(usageLimits.used('app:app_q')).toBe(0)
    upstream.behave = (seen) => `{"jsonrpc":"2.0","id":${seen.id},"error":{"code":3,"message":"execution reverted"}}`
    await post(path, read)
    expect(usageLimits.used('app:app_q')).toBe(1)
    await post(path, '{"jsonrpc":"2.0","method":"eth_gasPrice"}')
    expect(usageLimits.used('app:app_q')).toBe(2)
    upstream.behave = () => undefined
    expect(await postUntilTimeout(read, ['eth_gasPrice'])).toEqual([504, 'upstream_timeout'])
    expect(usageLimits.used('app:app_q')).toBe(3)
    upstream.behave = (seen) => (seen.method === 'eth_gasPrice' ? result(seen, '1') : undefined)
    const received = ['eth_blockNumber', 'eth_getLogs']
    expect(await postUntilTimeout(batch(...received, 'nope'), received)).toEqual([
      200,
      'upstream_timeout',
      'upstream_timeout',
      'method_not_found',
    ])
    expect(usageLimits.used('app:app_q')).toBe(5)
    await upstream.stop()
    expect(summarize(await post(path, read))).toEqual([503, 'no_upstream'])
    expect(summarize(await post(path, batch('eth_blockNumber', 'eth_getLogs', 'nope')))).toEqual([
      200,
      'no_upstream',
      'no_upstream',
      'method_not_found',
    ])
    expect([usageLimits.used('app:app_q'), usageLimits.givenBack]).toEqual([5, [1, 2]])
  })

  test('that is unavailable results in 503, not in quota_exceeded, and nothing is forwarded', async () => {
    const { addApp, usageLimits, upstream, entries, meter } = await openTenants()
    usageLimits.mode = 'unavailable'
    const { path } = addApp({ id: 'key_g', limits: { ...noLimits, perDay: 100 } })
    for (const body of [read, batch('eth_gasPrice', 'eth_blockNumber')]) {
      const response = await post(path, body)
      expect(summarize(response)).toEqual([503, 'key_store_unavailable'])
    }
    expect(upstream.bodies).toEqual([])
    expect(entries).toContainEqual({ event: 'fault', where: 'quota', code: 'other', count: 1 })
    expect(meter.counted).toEqual(
      ['eth_gasPrice', 'eth_gasPrice', 'eth_blockNumber'].map((each) => `key_g testnet ${each} key_store_unavailable`),
    )
  })

  test('granted after the caller disconnected is returned, and nothing is forwarded', async () => {
    const { addApp, usageLimits, upstream, port, entries } = await openTenants()
    const { path } = addApp({ appId: 'app_q', limits: { ...noLimits, perDay: 100 } })
    let grant = (): void => {}
    const { take } = usageLimits
    usageLimits.take = (request) =>
      new Promise((resolve) => {
        grant = () => resolve(take(request))
      })
    const connection = await openRaw(port)
    connection.send(postBytes(new URL(path).pathname, read))
    await expect.poll(() => grant.name).toBe('grant')
    connection.reset()
    await expect.poll(() => entries.some(({ event }) => event === 'disconnected')).toBe(true)
    grant()
    await expect.poll(() => usageLimits.givenBack).toEqual([1])
    expect([usageLimits.used('app:app_q'), upstream.bodies]).toEqual([0, []])
  })
})

test('a key without limits has no limit headers and uses no quota', async () => {
  const { addApp, usageLimits } = await openTenants()
  const { path } = addApp({ appId: 'app_q' })
  expect(getLimitHeaders((await post(path, read)).headers)).toEqual({})
  expect(usageLimits.used('app:app_q')).toBe(0)
})

test('a response has the headers of both limits, and the rate limit is checked first', async () => {
  const { addApp } = await openTenants()
  const { path } = addApp({ limits: { perSecond: 5, burst: 3, perDay: 2, perMonth: null } })
  const response = await post(path, batch(...Array.from({ length: 4 }, () => 'eth_gasPrice')))
  expect(summarize(response)).toEqual([200, '0x1', '0x1', 'quota_exceeded', 'rate_limited'])
  expect(getLimitHeaders(response.headers)).toEqual({
    'x-ratelimit-limit': '5',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(noon / 1000 + 1),
    'x-ratelimit-limit-day': '2',
    'x-ratelimit-remaining-day': '0',
    'x-ratelimit-reset-day': midnight,
  })
  expect(response.headers.get('access-control-expose-headers')).toBe('*')
})
