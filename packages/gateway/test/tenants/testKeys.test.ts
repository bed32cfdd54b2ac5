import { request } from 'node:http'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { testKeyDelayMs } from '../../src/proxy/request/handleBody.ts'
import { controlTime, until } from '../controlTime.ts'
import { openRaw, postBytes } from '../rawConnection.ts'
import { post } from '../startGateway.ts'
import { batch, call, summarize, openTenants } from './startTenants.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const read = call('eth_gasPrice')

/** Stops the clock. @returns A function that advances it, and the number of delayed requests. */
const watchDelays = (): { pass: (ms: number) => void; delayed: () => number } => {
  const pass = controlTime()
  const spied = vi.spyOn(globalThis, 'setTimeout')
  return { pass, delayed: () => spied.mock.calls.filter(([, ms]) => ms === testKeyDelayMs).length }
}

describe('test keys', () => {
  test('result in a rejection on either path and are not metered', async () => {
    const { url, meter, usageLimits } = await openTenants({ testKeys: true })
    const responses: unknown[] = []
    for (const path of ['testnet', 'mainnet/v2'])
      for (const kind of ['401', '429', 'quota'])
        responses.push(summarize(await post(`${url}/${path}/kr_test_${kind}`, read)))
    const each = [
      [401, 'key_unknown'],
      [429, 'rate_limited'],
      [403, 'quota_exceeded'],
    ]
    expect(responses).toEqual([...each, ...each])
    expect(summarize(await post(`${url}/testnet/kr_test_429`, batch('eth_gasPrice', 'nope')))).toEqual([
      429,
      'rate_limited',
    ])
    const limited = await post(`${url}/testnet/kr_test_429`, read)
    expect(limited.headers.get('retry-after')).toBe('Sat, 21 Nov 2026 12:00:01 GMT')
    expect([meter.counted, usageLimits.givenBack]).toEqual([[], []])
  })

  test('that do not exist are unknown keys, and so are all of them if testKeys is off', async () => {
    const { url } = await openTenants({ testKeys: true })
    expect(summarize(await post(`${url}/testnet/kr_test_500`, read))).toEqual([401, 'key_unknown'])
    const off = await openTenants()
    for (const kind of ['401', '429', 'quota', 'slow'])
      expect(summarize(await post(`${off.url}/testnet/kr_test_${kind}`, read))).toEqual([401, 'key_unknown'])
  })

  test('kr_test_slow forwards no method that changes state, not even unsafe node methods', async () => {
    const { pass, delayed } = watchDelays()
    const { url, upstream } = await openTenants({ testKeys: true, developmentMethods: 'all' })
    const changing = ['eth_sendRawTransaction', 'eth_newBlockFilter', 'anvil_setBalance', 'evm_mine', 'hardhat_reset']
    const posted = Promise.all([
      ...changing.map((method) => post(`${url}/testnet/kr_test_slow`, call(method))),
      post(`${url}/testnet/v2/kr_test_slow`, batch(...changing, 'eth_gasPrice')),
    ])
    await until(() => delayed() === changing.length + 1)
    pass(testKeyDelayMs)
    expect((await posted).map(summarize)).toEqual([
      ...changing.map(() => [200, 'method_not_found']),
      [200, ...changing.map(() => 'method_not_found'), '0x1'],
    ])
    expect(upstream.bodies.filter((body) => !body.includes('eth_gasPrice'))).toEqual([])
  })

  test('kr_test_slow gets its response after exactly 15 seconds', async () => {
    const { pass, delayed } = watchDelays()
    const { url, upstream } = await openTenants({ testKeys: true })
    const posted = post(`${url}/testnet/kr_test_slow`, read)
    await until(() => delayed() === 1)
    pass(14_999)
    await (await fetch(`${url}/healthz`)).text()
    expect(upstream.bodies).toEqual([])
    pass(1)
    expect(summarize(await posted)).toEqual([200, '0x1'])
  })

  test('kr_test_slow is canceled when its caller disconnects', async () => {
    const { pass, delayed } = watchDelays()
    const { url, port, entries, upstream } = await openTenants({ testKeys: true })
    const connection = await openRaw(port)
    connection.send(postBytes('/testnet/kr_test_slow', read))
    await until(() => delayed() === 1)
    connection.reset()
    await until(() => entries.some(({ event }) => event === 'disconnected'))
    pass(testKeyDelayMs)
    await (await fetch(`${url}/healthz`)).text()
    expect(upstream.bodies).toEqual([])
  })

  const from = (origin: string): RequestInit => ({ headers: { 'content-type': 'application/json', origin } })

  test.each([
    'https://evil.example',
    'http://evil.example:8545',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'http://127.0.0.2',
    'http://localhost@evil.example',
    'http://rpc.example.org',
    'https://rpc.example.org:8443',
    'https://sub.rpc.example.org',
    'chrome-extension://localhost',
    'null',
    'http://localhost, http://evil.example',
    '',
  ])('cannot be used by a page of %j, over HTTP or over a WebSocket', async (origin) => {
    const { port, upstream } = await openTenants({ testKeys: true, publicUrl: 'https://rpc.example.org' })
    const url = `http://127.0.0.1:${port}`
    for (const path of ['testnet/kr_test_slow', 'testnet/v2/kr_test_slow', 'testnet/kr_test_quota'])
      expect(summarize(await post(`${url}/${path}`, read, from(origin)))).toEqual([403, 'origin_not_allowed'])
    const { status } = await refuseSocket(`${url}/testnet/kr_test_slow`, origin)
    expect(status).toBe(403)
    expect(upstream.bodies).toEqual([])
  })

  test.each([
    'http://localhost',
    'http://localhost:5173',
    'https://127.0.0.1:3000',
    'http://[::1]:8080',
    'https://rpc.example.org',
    'HTTPS://RPC.example.org',
  ])('can be used by a page of %j', async (origin) => {
    const { port } = await openTenants({ testKeys: true, publicUrl: 'https://rpc.example.org' })
    expect(summarize(await post(`http://127.0.0.1:${port}/testnet/kr_test_quota`, read, from(origin)))).toEqual([
      403,
      'quota_exceeded',
    ])
  })

  test.each(['http://1.2.3.999', 'https://[1::2::3]', 'http://evil..example', 'https://evil.example'])(
    'cannot be used by a page of %j if the service has no public URL',
    async (origin) => {
      const { url } = await openTenants({ testKeys: true })
      expect(summarize(await post(`${url}/testnet/kr_test_quota`, read, from(origin)))).toEqual([
        403,
        'origin_not_allowed',
      ])
    },
  )

  test('a page can use other keys as before', async () => {
    const { addApiKey } = await openTenants({ testKeys: true })
    expect(summarize(await post(addApiKey().path, read, from('https://evil.example')))).toEqual([200, '0x1'])
  })

  test('kr_test_slow has a rate, and no debug_ and txpool_ methods', async () => {
    const { pass, delayed } = watchDelays()
    const { url } = await openTenants({ testKeys: true, services: { debug: true, trace: true, txpool: true } })
    const posted = [
      post(`${url}/testnet/kr_test_slow`, batch('debug_traceTransaction', 'txpool_content', 'eth_gasPrice')),
      post(`${url}/testnet/kr_test_slow`, batch(...Array.from({ length: 99 }, () => 'eth_gasPrice'))),
    ]
    await until(() => delayed() === 2)
    pass(testKeyDelayMs)
    const [methods, many] = (await Promise.all(posted)).map((response) => summarize(response) as unknown[])
    expect(methods).toEqual([200, 'method_not_found', 'method_not_found', '0x1'])
    expect(many?.slice(1).filter((result) => result === 'rate_limited')).toHaveLength(2)
  })
})

/** Asks for a WebSocket. @returns The response that rejects it. */
const refuseSocket = (url: string, origin: string): Promise<{ status: number }> =>
  new Promise((resolve, reject) => {
    const asked = request(url, {
      headers: {
        origin,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      },
    })
    asked.on('response', (response) => {
      response.resume()
      resolve({ status: response.statusCode ?? 0 })
    })
    asked.on('upgrade', (_, socket) => {
      socket.destroy()
      reject(new Error('the WebSocket was accepted'))
    })
    asked.on('error', reject)
    asked.end()
  })
