import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { createTransport } from '@keyrail/core'
import type { TransportOptions } from '@keyrail/core'
import { createClient } from '@keyrail/fetch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { raw, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer, Script } from '@keyrail/core/test/faultServer.ts'
import { findLeaks, reachableStrings } from '@keyrail/core/test/leakWalk.ts'

const KEY = 'kr_a7Hq2mZ9xT4vB6nR1cW8yL3pD5sF0gJkQeUi1a2B'
const ROTATED = 'kr_aXw5dK8fPz3YhN0uG7tEr4CbVm6oSjLqIi9HnTy1Z'
const TOKEN = 'eyJhbGciOiJFUzI1NiJ9.eyJleHAiOjE5OTk5OTk5OTl9.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg'

let server: FaultServer
beforeAll(async () => {
  server = await startFaultServer()
})
afterAll(() => server.close())

const error = (code: number, message: string, data?: unknown): Script => {
  return ({ json }, response) =>
    response.end(JSON.stringify({ jsonrpc: '2.0', id: json.id, error: { code, message, data } }))
}
const spell = (path: string): string =>
  [
    path,
    encodeURIComponent(path),
    JSON.stringify(path),
    path.replaceAll('/', '\\/'),
    [...path].map((c) => `%${c.charCodeAt(0).toString(16)}`).join(''),
  ].join(' ')

/** Ways of a server to say the address back. */
const scripts: Record<string, Script> = {
  'HTML page that repeats the URL': (seen, response) =>
    response.writeHead(404).end(`<html><title>No ${seen.path}</title><p>${seen.path}`),
  'HTML page with status 200': (seen, response) => response.end(`<html><title>${seen.path}</title>`),
  'text 401 that repeats the key': ({ path }, response) =>
    response.writeHead(401).end(`API key ${path.split('/').at(-1)} not found`),
  'text that repeats a part of the key': ({ path }, response) =>
    response.writeHead(403).end(`key ${path.slice(-20, -6)}… is disabled`),
  'JSON-RPC error whose message repeats the URL': (seen, response, socket) =>
    error(-32000, `upstream ${spell(seen.path)} said no`)(seen, response, socket),
  'JSON-RPC error whose data repeats the URL': (seen, response, socket) =>
    error(-32005, 'limit', { url: seen.path, [seen.path]: [spell(seen.path)], token: seen.headers.authorization })(
      seen,
      response,
      socket,
    ),
  'token in the message': (seen, response, socket) =>
    error(-32016, `bad token ${seen.headers.authorization}`)(seen, response, socket),
  'redirect to the key': (seen, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:1${seen.path}` }).end(seen.path),
  'truncated JSON that repeats the URL': (seen, response) =>
    response.end(`{"jsonrpc":"2.0","error":{"message":"${seen.path}`),
  'wrong id': raw(200, '{"jsonrpc":"2.0","id":"x","result":"0x1"}'),
  'empty 200': raw(200, ''),
  reset: (_seen, _response, socket) => socket.destroy(),
  'cut in the middle': (seen, response, socket) => {
    response.writeHead(200, { 'content-length': '1000' }).write(seen.path, () => socket.destroy())
  },
  'no response': () => {},
}

const addresses: Record<string, (url: string) => TransportOptions> = {
  'app key': (url) => ({ baseUrl: url, apiKey: KEY }),
  'API key': (url) => ({ rpcUrl: url, apiKey: KEY }),
  'full URL': (url) => ({ url: `${url}/v2/${KEY}` }),
  'key in a query': (url) => ({ url: `${url}/?apikey=${KEY}` }),
  'key function': (url) => ({ rpcUrl: url, apiKey: () => KEY }),
  'async key function and token': (url) => ({ baseUrl: url, apiKey: async () => KEY, jwt: async () => TOKEN }),
  'rotating key': (url) => {
    let n = 0
    return { baseUrl: url, apiKey: () => [KEY, ROTATED][n++ % 2] as string, jwt: TOKEN }
  },
}

const httpClients = { 'node:http': {}, fetch: { fetch: globalThis.fetch } }

const expectClean = (value: unknown): void => expect(findLeaks(value, KEY, ROTATED, TOKEN)).toEqual([])

for (const [httpClient, httpOptions] of Object.entries(httpClients)) {
  describe(`with ${httpClient}, no reachable value contains the key`, () => {
    for (const [shape, options] of Object.entries(addresses)) {
      test.each(Object.keys(scripts))(`${shape}: %s`, async (name) => {
        server.script = scripts[name] as Script
        const transport = createTransport({
          ...options(server.url),
          ...httpOptions,
          retry: { retries: 1, baseMs: 1 },
          timeoutMs: 200,
        })
        const client = createClient(transport)
        const pending = client.eth_blockNumber()
        // While the call is in flight.
        expectClean([pending, transport, client, client.request, client.eth_blockNumber])
        const failure: unknown = await pending.then(
          (value: unknown) => expect.fail(`got ${JSON.stringify(value)}`),
          (error: unknown) => error,
        )
        expectClean([failure, transport, client])
        expect((failure as Error).message).toContain(transport.redactedUrl)
        expectClean(inspect(client, { showProxy: true, showHidden: true, depth: 20 }))
        transport.close()
      })
    }

    test('without a listening server', async () => {
      const closed = createServer().listen(0, '127.0.0.1')
      await new Promise((resolve) => closed.on('listening', resolve))
      const { port } = closed.address() as AddressInfo
      await new Promise((resolve) => closed.close(resolve))
      const transport = createTransport({
        baseUrl: `http://127.0.0.1:${port}`,
        apiKey: KEY,
        ...httpOptions,
        retry: false,
      })
      expectClean(await transport.request({ method: 'eth_chainId' }).catch((failure: unknown) => failure))
    })

    test('after an abort, and after close', async () => {
      server.script = scripts['no response'] as Script
      const transport = createTransport({ baseUrl: server.url, apiKey: KEY, ...httpOptions })
      const controller = new AbortController()
      const aborted = transport
        .request({ method: 'eth_chainId' }, { signal: controller.signal })
        .catch((failure: unknown) => failure)
      setTimeout(() => controller.abort(), 20)
      expectClean(await aborted)
      const closed = transport.request({ method: 'eth_chainId' }).catch((failure: unknown) => failure)
      transport.close()
      expectClean([await closed, controller, transport])
    })

    test('of a key of one network', async () => {
      server.script = scripts['HTML page that repeats the URL'] as Script
      const transport = createTransport({ rpcUrl: server.url, apiKey: KEY, ...httpOptions })
      expectClean([await transport.request({ method: 'eth_chainId' }).catch((failure: unknown) => failure), transport])
    })
  })
}

test('a pasted address in place of options is not repeated', () => {
  for (const make of [createClient, createTransport] as ((options: never) => unknown)[])
    try {
      make(`https://node.example/v2/${KEY}` as never)
      expect.fail('not rejected')
    } catch (failure) {
      expectClean(failure)
      expect(failure).toMatchObject({ kind: 'invalidRequest' })
    }
})

describe('error messages for options do not contain the key', () => {
  test.each([
    { baseUrl: 'https://node.example', apiKey: `https://node.example/v2/${KEY}` },
    { baseUrl: `https://node.example/v2/${KEY}`, apiKey: KEY },
    { baseUrl: `node.example/${KEY}`, apiKey: KEY },
    { url: `node.example/${KEY}` },
    { url: `https://node.example/${KEY}`, apiKey: KEY },
    { rpcUrl: 'https://node.example', apiKey: `${KEY} ` },
  ])('case %#', (options) => {
    try {
      createTransport(options as TransportOptions)
      expect.fail('not rejected')
    } catch (failure) {
      expectClean(failure)
    }
  })
})

describe('the walk finds a leak that is planted', () => {
  class Hidden extends Error {
    #url: string
    constructor(url: string) {
      super('failed')
      this.#url = url
    }
    get address(): string {
      return this.#url
    }
  }
  const url = `https://node.example/v2/${KEY}`
  const planted: Record<string, unknown> = {
    message: new Error(`fetch ${url} failed`),
    cause: new Error('failed', { cause: new TypeError(url) }),
    'inherited getter': new Hidden(url),
    'hidden property': Object.defineProperty(new Error('failed'), 'url', { value: url }),
    'symbol property': Object.assign(new Error('failed'), { [Symbol('address')]: { href: url } }),
    'key of a map': new Map([[url, 1]]),
    toJSON: { toJSON: () => ({ url }) },
    'proxy target': new Proxy(
      { url },
      { get: () => undefined, ownKeys: () => [], getOwnPropertyDescriptor: () => undefined },
    ),
    'half of the key': { hint: KEY.slice(10, 20) },
    stack: Object.defineProperty(new Error('failed'), 'stack', { value: `Error\n at ${url}` }),
  }
  test.each(Object.keys(planted))('%s', (name) => {
    expect(findLeaks(planted[name], KEY).length).toBeGreaterThan(0)
  })

  test('the walk reaches the message of an error', () => {
    expect(reachableStrings(new Error('words')).some((text) => text.includes('words'))).toBe(true)
  })
})
