import http from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startFaultServer } from './faultServer.ts'
import type { FaultServer } from './faultServer.ts'
import { leakableKey as key } from './adapterCases.ts'
import { createFullTransport } from './fullTransport.ts'
import type { FullOptions } from './fullTransport.ts'

const withCode = <E extends Error>(error: E, code: string): E => Object.assign(error, { code })
const because = (message: string, cause: Error): TypeError => new TypeError(message, { cause })

/** How many times the fetch is called for one read, and how the call ends. */
const callWith = async (fail: () => unknown): Promise<{ readonly calls: number; readonly failure: unknown }> => {
  let calls = 0
  const fetch = (async () => {
    calls++
    throw fail()
  }) as typeof globalThis.fetch
  const transport = createFullTransport({
    endpoints: [{ baseUrl: 'https://one.example', apiKey: key }, { url: 'https://two.example' }],
    fetch,
    retry: { retries: 1, baseMs: 0 },
  } as FullOptions)
  const failure: unknown = await transport.request({ method: 'eth_blockNumber' }).catch((error: unknown) => error)
  transport.close()
  return { calls, failure }
}

describe('a fetch that fails with a programming error', () => {
  test.each<[string, () => unknown]>([
    ['a function that the runtime does not have', () => new TypeError('Promise.withResolvers is not a function')],
    ['a property of undefined', () => new TypeError("Cannot read properties of undefined (reading 'clone')")],
    ['a property of undefined, in Safari', () => new TypeError("undefined is not an object (evaluating 'a.b')")],
    ['a property of undefined, in Firefox', () => new TypeError('can\'t access property "b", a is undefined')],
    ['a name that is not defined', () => new ReferenceError('Request is not defined')],
    ['an endless recursion', () => new RangeError('Maximum call stack size exceeded')],
    ['JSON that is none', () => new SyntaxError('Unexpected token < in JSON at position 0')],
    ['a broken escape', () => new URIError('URI malformed')],
    ['an assertion', () => Object.assign(new Error('expected 1 to be 2'), { name: 'AssertionError' })],
    [
      'a wrong argument',
      () => withCode(new TypeError('The "url" argument must be of type string'), 'ERR_INVALID_ARG_TYPE'),
    ],
    ['a wrong URL', () => withCode(new TypeError('Invalid URL'), 'ERR_INVALID_URL')],
    ['a header that is none', () => new TypeError('Headers.append: "x y" is an invalid header name.')],
    ['a wrapped one', () => because('fetch failed', new TypeError('Promise.withResolvers is not a function'))],
    ['one wrapped twice', () => because('fetch failed', because('terminated', new ReferenceError('x is not defined')))],
    ['one that speaks of fetching', () => new TypeError('globalThis.fetch is not a function')],
    ['one that is called like a network error', () => new TypeError('terminated is not a function')],
    ['a name like that of a CORS error', () => new ReferenceError('origin is not defined')],
    ['one that speaks of a redirect', () => new TypeError('redirectTo is not a function')],
    [
      'an argument that undici rejects',
      () =>
        withCode(Object.assign(new Error('invalid method'), { name: 'InvalidArgumentError' }), 'UND_ERR_INVALID_ARG'),
    ],
    ['one that starts like a network error of Deno', () => new TypeError('connection error is not a function')],
    [
      'one that starts like a network error of React Native',
      () => new TypeError('Network request failed is not callable'),
    ],
    ['one that starts like a CORS error', () => new TypeError('origin http is not iterable')],
    ['one that speaks of the network', () => new TypeError('networkHandler.load is not a function')],
  ])('%s: kind unknown with its message, one call, no other endpoint', async (_, fail) => {
    const { calls, failure } = await callWith(fail)
    const thrown = fail() as Error
    const root = (thrown.cause as Error | undefined)?.cause ?? thrown.cause ?? thrown
    expect(failure).toMatchObject({
      name: 'KeyrailError',
      kind: 'unknown',
      source: 'client',
      retryable: false,
      message: expect.stringContaining(`${(root as Error).name}: ${(root as Error).message}`.replace(/\.$/, '')),
    })
    expect(calls).toBe(1)
  })

  test('its message shows no key', async () => {
    const { failure } = await callWith(() => new TypeError(`x is not a function: https://one.example/v2/${key}`))
    expect(failure).toMatchObject({ kind: 'unknown' })
    expect(`${String(failure)} ${JSON.stringify(failure)} ${(failure as Error).stack}`).not.toContain(key.slice(0, 8))
  })
})

describe('a custom fetch that reports a redirect', () => {
  test.each<[string, () => unknown]>([
    ['undici', () => because('fetch failed', new Error('unexpected redirect'))],
    ['node-fetch', () => Object.assign(new Error('uri requested responds with a redirect'), { type: 'no-redirect' })],
    ['Deno', () => new TypeError("Encountered redirect while redirect mode is set to 'error'")],
  ])('%s: kind badResponse, not retried', async (_, fail) => {
    const { failure } = await callWith(fail)
    expect(failure).toMatchObject({
      kind: 'badResponse',
      retryable: false,
      message: expect.stringContaining('redirects'),
    })
  })
})

describe('a fetch that fails with a network error is retried, also at other endpoints', () => {
  test.each<[string, () => unknown]>([
    ['Node: no connection', () => because('fetch failed', withCode(new Error('connect ECONNREFUSED'), 'ECONNREFUSED'))],
    ['Node: no such host', () => because('fetch failed', withCode(new Error('getaddrinfo ENOTFOUND'), 'ENOTFOUND'))],
    ['Node: closed', () => because('fetch failed', withCode(new Error('other side closed'), 'UND_ERR_SOCKET'))],
    [
      'Node: no HTTP',
      () => because('fetch failed', withCode(new Error('Response does not match'), 'HPE_INVALID_CONSTANT')),
    ],
    [
      'Node: TLS',
      () => because('fetch failed', withCode(new Error('wrong version number'), 'ERR_SSL_WRONG_VERSION_NUMBER')),
    ],
    ['Node: cut', () => because('terminated', withCode(new Error('other side closed'), 'UND_ERR_SOCKET'))],
    ['Node: no cause', () => new TypeError('fetch failed')],
    [
      'undici: a timeout',
      () => because('fetch failed', withCode(new Error('Headers Timeout Error'), 'UND_ERR_HEADERS_TIMEOUT')),
    ],
    ['Chromium', () => new TypeError('Failed to fetch')],
    ['Chromium, with the host', () => new TypeError('Failed to fetch (one.example)')],
    ['Chromium: cut', () => new TypeError('network error')],
    ['Firefox', () => new TypeError('NetworkError when attempting to fetch resource.')],
    ['Firefox: cut', () => new TypeError('Error in input stream')],
    ['Firefox: cut, later versions', () => new TypeError('Error in body stream')],
    ['Safari', () => new TypeError('Load failed')],
    ['Safari, with the host', () => new TypeError('Load failed (one.example)')],
    ['Safari: lost', () => new TypeError('The network connection was lost.')],
    ['Safari: offline', () => new TypeError('The Internet connection appears to be offline.')],
    ['Safari: no such host', () => new TypeError('A server with the specified hostname could not be found.')],
    ['Safari: no connection', () => new TypeError('Could not connect to the server.')],
    ['Safari: CORS', () => new TypeError('Origin https://page.example is not allowed by Access-Control-Allow-Origin.')],
    ['Safari: cancelled', () => new TypeError('cancelled')],
    ['WebKit', () => new TypeError('A network error occurred.')],
    ['React Native', () => new TypeError('Network request failed')],
    ['React Native: a timeout', () => new TypeError('Network request timed out')],
    [
      'Bun: no connection',
      () =>
        withCode(
          new TypeError('ECONNREFUSED: Unable to connect. Is the computer able to access the url?'),
          'ECONNREFUSED',
        ),
    ],
    [
      'Bun: no connection, earlier versions',
      () => withCode(new TypeError('Unable to connect. Is the computer able to access the url?'), 'ConnectionRefused'),
    ],
    ['Bun: closed', () => withCode(new TypeError('The socket connection was closed unexpectedly.'), 'ECONNRESET')],
    [
      'Bun: no HTTP',
      () =>
        withCode(new TypeError('Malformed_HTTP_Response fetching "http://one.example/"'), 'Malformed_HTTP_Response'),
    ],
    ['Bun: TLS', () => withCode(new TypeError('EPROTO: The TLS handshake failed.'), 'EPROTO')],
    [
      'Deno',
      () =>
        because(
          'fetch failed',
          new Error('error sending request for url (http://one.example/): client error (Connect)'),
        ),
    ],
    [
      'Deno, earlier versions',
      () => new TypeError('error sending request for url (http://one.example/): connection refused'),
    ],
    ['Deno: cut', () => new TypeError('error reading a body from connection')],
    ['workerd', () => new Error('Network connection lost.')],
    [
      'node-fetch',
      () =>
        withCode(
          Object.assign(new Error('request failed, reason: socket hang up'), { name: 'FetchError' }),
          'ECONNRESET',
        ),
    ],
    ['axios', () => withCode(Object.assign(new Error('Network Error'), { name: 'AxiosError' }), 'ERR_NETWORK')],
    ['a timeout of the fetch', () => new DOMException('The operation was aborted due to timeout', 'TimeoutError')],
    ['an abort of the fetch', () => new DOMException('This operation was aborted', 'AbortError')],
    ['happy-dom', () => new DOMException('Fetch failed', 'NetworkError')],
    ['an error of its own', () => new Error('the tunnel is down')],
    ['a text', () => 'offline'],
    ['nothing', () => undefined],
  ])('%s', async (_, fail) => {
    const { calls, failure } = await callWith(fail)
    expect(failure).toMatchObject({ kind: 'network', source: 'transport', retryable: true })
    // Two endpoints, two requests each.
    expect(calls).toBe(4)
  })
})

describe('a fetch whose response cannot be read', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['an object that is no response', { ok: true }],
    ['a text', '0x1'],
    ['a body without a reader', { status: 200, body: {}, headers: new Headers() }],
  ])('%s is badResponse, and not a network error', async (_, response) => {
    const fetch = (async () => response) as unknown as typeof globalThis.fetch
    const transport = createFullTransport({ url: 'https://one.example', fetch, retry: false })
    await expect(transport.request({ method: 'eth_blockNumber' })).rejects.toMatchObject({
      kind: 'badResponse',
      message: expect.stringContaining('fetch'),
    })
  })
})

describe('through node:http', () => {
  let server: FaultServer
  beforeAll(async () => {
    server = await startFaultServer()
  })
  afterAll(() => server.close())

  test('an agent that throws a programming error is unknown with its message, and is called once', async () => {
    let calls = 0
    const agent = new http.Agent()
    agent.createConnection = () => {
      calls++
      throw new TypeError('Promise.withResolvers is not a function')
    }
    const transport = createFullTransport({ url: server.url, agent, retry: { baseMs: 0 } })
    await expect(transport.request({ method: 'eth_blockNumber' })).rejects.toMatchObject({
      kind: 'unknown',
      retryable: false,
      message: expect.stringContaining('TypeError: Promise.withResolvers is not a function'),
    })
    expect(calls).toBe(1)
    transport.close()
  })

  test('an agent that reports a programming error is unknown with its message', async () => {
    const agent = new http.Agent()
    agent.createConnection = (_options, done) => {
      queueMicrotask(() => done?.(new ReferenceError('proxy is not defined'), undefined as never))
      return undefined
    }
    const transport = createFullTransport({ url: server.url, agent, retry: { baseMs: 0 } })
    await expect(transport.request({ method: 'eth_blockNumber' })).rejects.toMatchObject({
      kind: 'unknown',
      message: expect.stringContaining('ReferenceError: proxy is not defined'),
    })
    transport.close()
  })

  test('an agent whose proxy is down stays a network error', async () => {
    const agent = new http.Agent()
    agent.createConnection = (_options, done) => {
      queueMicrotask(() =>
        done?.(new Error('Proxy connection ended before receiving CONNECT response'), undefined as never),
      )
      return undefined
    }
    const transport = createFullTransport({ url: server.url, agent, retry: false })
    await expect(transport.request({ method: 'eth_blockNumber' })).rejects.toMatchObject({
      kind: 'network',
      retryable: true,
    })
    transport.close()
  })
})
