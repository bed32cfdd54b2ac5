import { channel } from 'node:diagnostics_channel'
import { createRequire } from 'node:module'
import { createTransport, failover, isKeyrailError } from '@keyrail/core'
import type { RequestHeaders } from '@keyrail/core'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { raw, reply, startFaultServer } from './faultServer.ts'
import type { FaultServer } from './faultServer.ts'
import { createFullTransport } from './fullTransport.ts'
import type { FullTransport } from './fullTransport.ts'
import { findLeaks, reachableStrings } from './leakWalk.ts'
import { getFailure } from './getFailure.ts'

const apiKey = 'kr_a7Hq2mZ9xT4vB6nR1cW8yL3pD5sF0gJkQeUi1a2B'
const secret = 'proxy-secret-0123456789-abcdef'
const clients = { 'node:http': {}, fetch: { fetch: globalThis.fetch } } as const

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const start = async (): Promise<FaultServer> => {
  const server = await startFaultServer()
  closers.push(server.close)
  return server
}

describe.each(Object.entries(clients))('headers through %s', (_, client) => {
  const open = (server: FaultServer, headers: RequestHeaders, more = {}): FullTransport => {
    const options = { baseUrl: server.url, apiKey, headers, retry: { retries: 1, baseMs: 1 }, ...client, ...more }
    const transport = createFullTransport(options)
    closers.push(transport.close)
    return transport
  }

  test('are sent with each request, beside those of the client', async () => {
    const server = await start()
    const transport = open(server, { 'X-Team': 'wallet', 'cf-access-client-secret': secret })
    await transport.request({ method: 'eth_blockNumber' })
    await transport.request({ method: 'eth_gasPrice' })
    expect(server.seen).toHaveLength(2)
    for (const { headers, path } of server.seen) {
      expect(path).toBe(`/v2/${apiKey}`)
      expect(headers).toMatchObject({
        'x-team': 'wallet',
        'cf-access-client-secret': secret,
        'content-type': 'application/json',
      })
      expect(headers['authorization']).toBeUndefined()
    }
  })

  test('have a user agent, and a given one wins, for a server that rejects requests without one', async () => {
    const server = await start()
    server.script = (seen, response, socket) =>
      (seen.headers['user-agent'] ? reply('0x1') : raw(403, 'Forbidden'))(seen, response, socket)
    await open(server, {}).request({ method: 'eth_blockNumber' })
    await open(server, { 'User-Agent': 'my-app/2' }).request({ method: 'eth_blockNumber' })
    const agents = server.seen.map(({ headers }) => headers['user-agent'])
    const { version } = createRequire(import.meta.url)('../package.json') as { readonly version: string }
    expect(agents).toEqual([`keyrail/${version}`, 'my-app/2'])
  })

  test('have none in a browser, which sends its own', async () => {
    const server = await start()
    vi.stubGlobal('navigator', { userAgent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36' })
    closers.push(() => vi.unstubAllGlobals())
    await open(server, {}).request({ method: 'eth_blockNumber' })
    expect(String(server.seen[0]?.headers['user-agent'])).not.toContain('keyrail')
  })

  test('can be combined with a token, and can hold the authorization without one', async () => {
    const server = await start()
    await open(server, { 'x-team': 'wallet' }, { jwt: 'aaaa.bbbb.cccc' }).request({ method: 'eth_blockNumber' })
    await open(server, { Authorization: 'ApiKey abc' }).request({ method: 'eth_blockNumber' })
    expect(server.seen.map(({ headers }) => [headers['authorization'], headers['x-team']])).toEqual([
      ['Bearer aaaa.bbbb.cccc', 'wallet'],
      ['ApiKey abc', undefined],
    ])
  })

  test('from a function are read for each request: once for a retry, once for a batch', async () => {
    const server = await start()
    let n = 0
    const transport = open(server, async () => ({ 'x-attempt': String(++n) }))
    server.script = raw(503, 'busy')
    await getFailure(transport.request({ method: 'eth_blockNumber' }))
    server.script = ({ json }, response) =>
      response.end(
        JSON.stringify((json as unknown as { id: number }[]).map(({ id }) => ({ jsonrpc: '2.0', id, result: '0x1' }))),
      )
    await transport.batch([{ method: 'eth_blockNumber' }, { method: 'eth_gasPrice' }])
    expect(server.seen.map(({ headers }) => headers['x-attempt'])).toEqual(['1', '2', '3'])
    expect(n).toBe(3)
  })

  test.each<[what: string, headers: () => never]>([
    [
      'throws',
      () => {
        throw new Error(`no ${secret}`)
      },
    ],
    ['rejects', (() => Promise.reject(new TypeError(secret))) as unknown as () => never],
    ['returns no object', (() => secret) as unknown as () => never],
    ['returns a header with a line break', (() => ({ 'x-a': `${secret}\r\nx-b: 1` })) as unknown as () => never],
    ['returns a reserved header', (() => ({ host: secret })) as unknown as () => never],
  ])('fail the call when the function %s, and nothing is sent', async (_what, headers) => {
    const server = await start()
    const transport = open(server, headers)
    const error = await getFailure(transport.request({ method: 'eth_blockNumber' }))
    expect(isKeyrailError(error, 'invalidRequest')).toBe(true)
    expect(String(error)).toMatch(/header/)
    expect(findLeaks([error, transport, transport.stats()], secret)).toEqual([])
    expect(server.seen).toEqual([])
  })

  test.each(['static', 'from a function'])('never appear in anything users see, if they are %s', async (kind) => {
    const server = await start()
    const value = `Bearer ${secret}`
    const headers = { 'x-proxy-authorization': value }
    const seen: unknown[] = []
    const hook = (event: unknown): void => void seen.push(event)
    const names = ['request', 'attempt', 'retry', 'reroute', 'response', 'failure'].map((name) => `keyrail:${name}`)
    for (const name of names) channel(name).subscribe(hook)
    closers.push(() => names.forEach((name) => channel(name).unsubscribe(hook)))
    const hooks = { onRequest: hook, onAttempt: hook, onRetry: hook, onResponse: hook, onFailure: hook }
    const transport = open(server, kind === 'static' ? headers : () => headers, { hooks })
    const failures: unknown[] = []
    const echo = (status: number): void => {
      server.script = ({ headers: sent, json }, response) =>
        response.writeHead(status).end(
          JSON.stringify({
            jsonrpc: '2.0',
            id: json.id,
            error: {
              code: -32_000,
              message: `sent ${JSON.stringify(sent)}`,
              data: { sent, text: encodeURIComponent(JSON.stringify(sent)) },
            },
          }),
        )
    }
    for (const status of [200, 400, 403, 503]) {
      echo(status)
      failures.push(await getFailure(transport.request({ method: 'eth_gasPrice' })))
    }
    server.script = ({ headers: sent }, response) =>
      response.writeHead(502).end(`<title>${JSON.stringify(sent)}</title>`)
    failures.push(await getFailure(transport.request({ method: 'eth_gasPrice' })))
    server.script = ({ headers: sent }, _response, socket) =>
      socket.end(
        `HTTP/1.1 200 OK\r\nlocation: ${sent['x-proxy-authorization'] as string}\r\ncontent-length: 9\r\n\r\n{`,
      )
    failures.push(await getFailure(transport.request({ method: 'eth_gasPrice' })))
    expect(failures.every((failure) => isKeyrailError(failure))).toBe(true)
    const all = [failures, transport, transport.stats(), seen]
    expect(reachableStrings(all).length).toBeGreaterThan(100)
    expect(findLeaks(all, secret, apiKey)).toEqual([])
  })

  test('belong to one endpoint each', async () => {
    const [first, second] = [await start(), await start()]
    first.script = raw(503, 'busy')
    const transport = createTransport({
      endpoints: failover([
        { url: first.url, headers: { 'x-team': 'first' } },
        { url: second.url, headers: () => ({ 'x-team': 'second' }) },
      ]),
      retry: false,
      ...client,
    })
    closers.push(transport.close)
    await transport.request({ method: 'eth_blockNumber' })
    expect(first.seen.map(({ headers }) => headers['x-team'])).toEqual(['first'])
    expect(second.seen.map(({ headers }) => headers['x-team'])).toEqual(['second'])
  })
})

describe('options', () => {
  const url = 'http://user:password@127.0.0.1:8545'
  test.each<[what: string, options: object, message: string]>([
    ['a token', { url: 'http://127.0.0.1:8545', jwt: 'a.b.c' }, 'which jwt sets too'],
    ['credentials in the URL', { url }, 'which the URL sets too'],
  ])('authorization and %s cannot be used together', (_, options, message) => {
    const headers = { authorization: secret }
    expect(() => createTransport({ ...options, headers } as never)).toThrow(message)
  })

  test('with several endpoints, headers belong to each endpoint', () => {
    expect(() => createTransport({ endpoints: failover([{ url }]), headers: { a: 'b' } } as never)).toThrow(
      'headers cannot be used together with endpoints: pass it to failover',
    )
  })
})
