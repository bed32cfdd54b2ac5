import { createServer as createHttpServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { getApiKeyUrl } from '../src/index.ts'
import type { TestOptions } from './createTestGateway.ts'
import type { KeyRecord } from '../src/auth/key/keyStore.ts'
import { controlTime, until } from './controlTime.ts'
import { createMemoryKeyStore } from './createMemoryKeyStore.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { Behaviour, FakeUpstream } from './fakeUpstream.ts'
import { openRaw, postBytes } from './rawConnection.ts'
import { chainIds, unreachableUrl, post, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

afterEach(() => {
  vi.useRealTimers()
})

const startFake = async (chainId: number = chainIds.testnet, path = ''): Promise<FakeUpstream> => {
  const upstream = await startFakeUpstream(chainId, path)
  onTestFinished(upstream.stop)
  return upstream
}

const startGatewayFor = async (
  urls: readonly string[],
  options: Partial<TestOptions> = {},
): Promise<StartedGateway & { rpcUrl: string }> => {
  const started = await startGateway({ testnet: urls }, options)
  onTestFinished(() => started.gateway.close({ graceMs: 0 }))
  return { ...started, rpcUrl: getApiKeyUrl(started.url, 'testnet', started.testnetKey) }
}

const getClosedPort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

const read = '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]}'
const write = '{"jsonrpc":"2.0","id":1,"method":"eth_sendRawTransaction","params":["0x00"]}'

const reset: Behaviour = (_, response) => {
  response.socket?.resetAndDestroy()
  return undefined
}
const resetMidBody: Behaviour = (call, response) => {
  response.writeHead(200, { 'content-length': '1000' })
  response.write(result(call, '"0x').slice(0, -1), () => response.socket?.resetAndDestroy())
  return undefined
}
const closedMidBody: Behaviour = (call, response) => {
  response.writeHead(200, { 'content-length': '1000' })
  response.write(result(call, '"0x'), () => response.socket?.end())
  return undefined
}
const status =
  (
    code: number,
    text = '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"secret token abc"}}',
  ): Behaviour =>
  (_, response) => {
    response.statusCode = code
    response.setHeader('location', 'http://127.0.0.1:1/')
    return text
  }
const respond =
  (text: string): Behaviour =>
  () =>
    text
const hang: Behaviour = () => undefined
const sendSlowly: Behaviour = (_, response) => {
  const timer = setInterval(() => response.write(' '), 50)
  response.on('close', () => clearInterval(timer))
  return undefined
}

const bad = { status: 502, code: -32603, message: 'Bad upstream response', data: { reason: 'upstream_bad' } }
const busy = { status: 503, code: -32603, message: 'Upstream is busy', data: { reason: 'upstream_busy' } }
const slow = {
  status: 504,
  code: -32603,
  message: 'Upstream timed out',
  data: { reason: 'upstream_timeout', timeoutMs: 300 },
}
const large = {
  status: 502,
  code: -32603,
  message: 'Response too large',
  data: { reason: 'response_too_large', maxResponseBytes: 100_000 },
}

const faults: readonly { name: string; behave: Behaviour; rejection: typeof bad | typeof slow | typeof large }[] = [
  { name: 'resets the connection', behave: reset, rejection: bad },
  { name: 'resets the connection in the middle of the body', behave: resetMidBody, rejection: bad },
  { name: 'closes the connection in the middle of the body', behave: closedMidBody, rejection: bad },
  { name: 'sends an HTML page', behave: respond('<html>busy</html>'), rejection: bad },
  { name: 'sends nothing', behave: respond(''), rejection: bad },
  { name: 'sends half of the JSON', behave: (call) => result(call, '{"a":').slice(0, -1), rejection: bad },
  { name: 'sends half of a large JSON', behave: (call) => result(call, `["${'x'.repeat(80_000)}`), rejection: bad },
  { name: 'sends more after the JSON', behave: (call) => `${result(call, '1')}x`, rejection: bad },
  {
    name: 'sends bytes that are not UTF-8',
    behave: (call, response) => void response.end(Buffer.from(result(call, '"\u00ff"'), 'latin1')),
    rejection: bad,
  },
  { name: 'responds with another id', behave: (call) => result({ ...call, id: call.id + 1 }, '1'), rejection: bad },
  {
    name: 'responds with the id as a string',
    behave: (call) => `{"jsonrpc":"2.0","id":"${call.id}","result":1}`,
    rejection: bad,
  },
  {
    name: 'responds with a result and id null',
    behave: respond('{"jsonrpc":"2.0","id":null,"result":1}'),
    rejection: bad,
  },
  { name: 'responds without an id', behave: respond('{"jsonrpc":"2.0","result":1}'), rejection: bad },
  {
    name: 'responds without a result or an error',
    behave: (call) => `{"jsonrpc":"2.0","id":${call.id}}`,
    rejection: bad,
  },
  { name: 'responds with two results', behave: (call) => `{"id":${call.id},"result":1,"result":2}`, rejection: bad },
  {
    name: 'responds with an error that is a string',
    behave: (call) => `{"id":${call.id},"error":"no"}`,
    rejection: bad,
  },
  { name: 'responds with an array', behave: (call) => `[${result(call, '1')}]`, rejection: bad },
  { name: 'responds with 500', behave: status(500), rejection: bad },
  { name: 'responds with 502', behave: status(502), rejection: bad },
  { name: 'responds with 401', behave: status(401), rejection: bad },
  { name: 'redirects', behave: status(302), rejection: bad },
  { name: 'responds with 429', behave: status(429), rejection: busy },
  { name: 'responds with 503', behave: status(503), rejection: busy },
  { name: 'hangs', behave: hang, rejection: slow },
  { name: 'sends a byte at a time', behave: sendSlowly, rejection: slow },
  { name: 'sends too much', behave: (call) => result(call, `"${'x'.repeat(200_000)}"`), rejection: large },
]

const bounds = { upstreamTimeoutMs: 300, maxResponseBytes: 100_000 }

describe('an upstream that', () => {
  test.each(faults)(
    '$name: $rejection.status for a single call, and the next one works',
    async ({ behave, rejection }) => {
      const pass = controlTime()
      const upstream = await startFake()
      const { port, testnetKey } = await startGatewayFor([upstream.url], { bounds })
      const connection = await openRaw(port)
      for (const body of [read, write]) {
        upstream.behave = behave
        upstream.bodies.length = 0
        connection.send(postBytes(`/testnet/${testnetKey}`, body))
        await until(() => upstream.bodies.length > 0)
        if (rejection === slow) pass(bounds.upstreamTimeoutMs)
        const response = await connection.next()
        expect(response.status).toBe(rejection.status)
        expect(JSON.parse(response.body)).toEqual({
          jsonrpc: '2.0',
          id: 1,
          error: {
            code: rejection.code,
            message: rejection.message,
            data: { ...rejection.data, requestId: response.headers['x-request-id'] },
          },
        })
        expect(response.headers['x-chain-id']).toBe('31337')
        upstream.behave = (call) => result(call, '"0x2"')
        connection.send(postBytes(`/testnet/${testnetKey}`, body))
        expect((await connection.next()).body).toBe('{"jsonrpc":"2.0","id":1,"result":"0x2"}')
      }
      connection.destroy()
    },
  )

  test('is down: 503', async () => {
    const port = await getClosedPort()
    const { rpcUrl, url } = await startGatewayFor([`http://127.0.0.1:${port}`])
    const response = await post(rpcUrl, read)
    expect([response.status, JSON.parse(response.text)]).toEqual([
      503,
      {
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: -32603,
          message: 'No healthy upstream for testnet',
          data: { reason: 'no_upstream', requestId: response.headers.get('x-request-id') },
        },
      },
    ])
    const ready = await fetch(`${url}/readyz`)
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { status: 'unavailable', reason: 'no_upstream', networks: ['testnet', 'mainnet'] },
    ])
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
  })

  test('goes down and comes back', async () => {
    const upstream = await startFake()
    const { rpcUrl, entries } = await startGatewayFor([upstream.url])
    expect((await post(rpcUrl, read)).status).toBe(200)
    await upstream.stop()
    const gone = await post(rpcUrl, read)
    expect(gone.status).toBe(503)
    const port = Number(new URL(upstream.url).port)
    onTestFinished(await startFakeAt(port))
    await expect.poll(async () => (await post(rpcUrl, read)).status).toBe(200)
    expect(
      entries
        .filter((entry) => entry.event === 'upstream' && entry.network === 'testnet')
        .map((entry) => ('state' in entry ? entry.state : '')),
    ).toEqual(['healthy', 'unreachable', 'healthy'])
  })

  test('is on another chain never gets a call', async () => {
    const wrong = await startFake(5)
    const { rpcUrl, entries } = await startGatewayFor([wrong.url])
    expect((await post(rpcUrl, read)).status).toBe(503)
    expect(wrong.bodies).toEqual([])
    expect(entries).toContainEqual({
      event: 'upstream',
      network: 'testnet',
      upstream: 'testnet-1',
      state: 'wrongChain',
      reason: `its chain id is 5, not ${chainIds.testnet}`,
    })
    const right = await startFake()
    const both = await startGatewayFor([wrong.url, right.url])
    expect((await post(both.rpcUrl, read)).status).toBe(200)
    expect([wrong.bodies.length, right.bodies.length]).toEqual([0, 1])
  })
})

describe('the log gives the reason why an upstream is unreachable', () => {
  test.each<[string, string, (response: ServerResponse) => void]>([
    ['an HTTP status', 'HTTP 401', (response) => response.writeHead(401).end('{}')],
    ['a page', 'the response is not JSON-RPC', (response) => response.end('<html>')],
    [
      'no chain id',
      'eth_chainId returned no number',
      (response) => response.end('{"jsonrpc":"2.0","id":1,"result":null}'),
    ],
    ['a reset', 'no complete response (ECONNRESET)', (response) => response.socket?.resetAndDestroy()],
  ])('%s', async (_what, reason, respondTo) => {
    const server = createHttpServer((request, response) => request.resume().on('end', () => respondTo(response)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
    const { entries } = await startGatewayFor([`http://127.0.0.1:${(server.address() as AddressInfo).port}`])
    const states = entries.filter((entry) => entry.event === 'upstream' && entry.network === 'testnet')
    expect(states).toMatchObject([{ state: 'unreachable', reason }])
  })

  test('nothing listens', async () => {
    const { entries } = await startGatewayFor([`http://127.0.0.1:${await getClosedPort()}`])
    expect(entries).toContainEqual(
      expect.objectContaining({ state: 'unreachable', reason: 'cannot connect (ECONNREFUSED)' }),
    )
  })
})

/** Starts an upstream on a given port, for one that comes back. */
const startFakeAt = async (port: number): Promise<() => Promise<void>> => {
  const server = createHttpServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const { id, method } = JSON.parse(body) as { id: number; method: string }
      response.end(`{"jsonrpc":"2.0","id":${id},"result":"${method === 'eth_chainId' ? '0x7a69' : '0x1'}"}`)
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

describe('the retry', () => {
  const retried = faults.filter(({ rejection }) => rejection !== slow && rejection !== large)
  /** A node that responds like this has not run the call. */
  const rejected = new Set(['responds with 401', 'responds with 429'])

  test.each(retried)('goes to another upstream for a read, if the first $name', async ({ behave }) => {
    const [first, second] = [await startFake(), await startFake()]
    first.behave = behave
    const { rpcUrl } = await startGatewayFor([first.url, second.url])
    expect((await post(rpcUrl, read)).text).toBe('{"jsonrpc":"2.0","id":1,"result":"0x1"}')
    expect([first.bodies.length, second.bodies.length]).toEqual([1, 1])
  })

  test.each(retried.filter(({ name }) => !rejected.has(name)))(
    'does not happen for a raw transaction, if the first $name',
    async ({ behave }) => {
      const [first, second] = [await startFake(), await startFake()]
      first.behave = behave
      const { rpcUrl } = await startGatewayFor([first.url, second.url])
      expect((await post(rpcUrl, write)).status).toBeGreaterThanOrEqual(502)
      expect((await post(rpcUrl, `[${write}]`)).text).toContain('"error"')
      expect([first.bodies.length, second.bodies.length]).toEqual([2, 0])
    },
  )

  test('happens for a raw transaction if nothing was sent', async () => {
    const [first, second] = [await startFake(), await startFake()]
    const { rpcUrl } = await startGatewayFor([first.url, second.url])
    await first.stop()
    expect((await post(rpcUrl, write)).status).toBe(200)
    expect(second.bodies.length).toBe(1)
  })

  test('does not happen for a filter: its changes are gone once they are read', async () => {
    const [first, second] = [await startFake(), await startFake()]
    const { rpcUrl } = await startGatewayFor([first.url, second.url])
    const filter = JSON.parse((await post(rpcUrl, read.replace('eth_call', 'eth_newBlockFilter'))).text) as {
      result: string
    }
    first.behave = status(500)
    const changes = `{"jsonrpc":"2.0","id":1,"method":"eth_getFilterChanges","params":["${filter.result}"]}`
    expect((await post(rpcUrl, changes)).status).toBe(502)
    expect([first.bodies.length, second.bodies.length]).toEqual([2, 0])
  })

  test('goes to the same upstream only if a connection broke', async () => {
    const upstream = await startFake()
    let calls = 0
    upstream.behave = (call, response) => {
      calls += 1
      return calls === 1 ? reset(call, response) : result(call, '"0x1"')
    }
    const { rpcUrl } = await startGatewayFor([upstream.url])
    expect((await post(rpcUrl, read)).status).toBe(200)
    upstream.behave = status(500)
    upstream.bodies.length = 0
    expect((await post(rpcUrl, read)).status).toBe(502)
    expect(upstream.bodies.length).toBe(1)
  })

  test('goes to each upstream once', async () => {
    const three = [await startFake(), await startFake(), await startFake()]
    for (const upstream of three) upstream.behave = status(500)
    const { rpcUrl } = await startGatewayFor(three.map(({ url }) => url))
    expect((await post(rpcUrl, read)).status).toBe(502)
    expect(three.map(({ bodies }) => bodies.length)).toEqual([1, 1, 1])
  })
})

describe('a caller that leaves', () => {
  test.each([
    ['stops the read in flight', read, 1],
    ['stops the reads of its batch', `[${read},${read}]`, 1],
    ['does not stop its raw transaction', write, 0],
  ])('%s', async (_, body, cut) => {
    const upstream = await startFake()
    upstream.behave = hang
    const { port, testnetKey, entries, rpcUrl } = await startGatewayFor([upstream.url])
    const connection = await openRaw(port)
    connection.send(postBytes(`/testnet/${testnetKey}`, body))
    await expect.poll(() => upstream.bodies.length).toBe(1)
    connection.reset()
    await expect.poll(() => entries.some(({ event }) => event === 'disconnected')).toBe(true)
    // An unwanted cut would arrive before the next call.
    upstream.behave = (call) => result(call, '"0x1"')
    expect((await post(rpcUrl, read.replace('eth_call', 'eth_gasPrice'))).status).toBe(200)
    await expect.poll(() => upstream.cut()).toBe(cut)
  })
})

describe('a key store that fails', () => {
  test.each([
    [
      'throws',
      () => {
        throw new Error('kr_secret')
      },
    ],
    ['rejects', () => Promise.reject(new Error('kr_secret'))],
  ])('when it %s: 503, never 401', async (_, find) => {
    const upstream = await startFake()
    const { rpcUrl } = await startGatewayFor([upstream.url], { keys: { ...createMemoryKeyStore(), find } })
    const response = await post(rpcUrl, read)
    expect([response.status, JSON.parse(response.text)]).toMatchObject([
      503,
      { id: null, error: { code: -32603, data: { reason: 'key_store_unavailable' } } },
    ])
    expect(response.text).not.toContain('kr_secret')
  })

  test.each(['suspended', 'ACTIVE', '', undefined])('a key with the status %s is rejected', async (status) => {
    const upstream = await startFake()
    const record = { id: 'a', kind: 'apiKey', networks: ['testnet'], status } as unknown as KeyRecord
    for (const find of [() => record, async () => record]) {
      const { rpcUrl } = await startGatewayFor([upstream.url], { keys: { ...createMemoryKeyStore(), find } })
      const response = await post(rpcUrl, read)
      expect([response.status, JSON.parse(response.text)]).toMatchObject([
        401,
        { error: { code: -32016, message: 'API key is not active', data: { reason: 'key_disabled' } } },
      ])
    }
    expect(upstream.bodies).toEqual([])
  })

  test('a store may return a promise', async () => {
    const upstream = await startFake()
    const find = async () => ({ id: 'a', kind: 'apiKey', networks: ['testnet'], status: 'active' }) as const
    const { rpcUrl } = await startGatewayFor([upstream.url], { keys: { ...createMemoryKeyStore(), find } })
    expect((await post(rpcUrl, read)).status).toBe(200)
  })
})

describe('options', () => {
  test.each([
    ['debug_traceTransaction', { services: { debug: true } }],
    ['trace_block', { services: { trace: true } }],
    ['txpool_contentFrom', { services: { txpool: true } }],
    ['anvil_setBalance', { developmentMethods: 'all' }],
    ['evm_mine', { developmentMethods: 'all' }],
    ['hardhat_reset', { developmentMethods: 'all' }],
  ] as const)('%s is allowed if it is turned on', async (method, options) => {
    const upstream = await startFake()
    const { rpcUrl } = await startGatewayFor([upstream.url], options)
    expect((await post(rpcUrl, read.replace('eth_call', method))).text).toContain('"result"')
    expect((await post(rpcUrl, read.replace('eth_call', 'eth_sign'))).text).toContain('-32601')
  })

  test('publicUrl is what listen returns', async () => {
    const started = await startGateway({ testnet: [unreachableUrl] }, { publicUrl: 'https://rpc.example.org/' })
    onTestFinished(() => started.gateway.close())
    expect(started.url).toBe('https://rpc.example.org')
  })

  test('the path, query and credentials of an upstream URL are sent', async () => {
    const upstream = await startFake(chainIds.testnet, '/v3/topsecrettoken?k=anothersecret')
    const { rpcUrl } = await startGatewayFor([upstream.url.replace('//', '//user:pass%20word@')])
    expect((await post(rpcUrl, read)).status).toBe(200)
    expect(upstream.headers[0]?.authorization).toBe(`Basic ${Buffer.from('user:pass word').toString('base64')}`)
  })
})
