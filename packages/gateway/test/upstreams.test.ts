import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { getApiKeyUrl } from '../src/index.ts'
import type { GatewayOptions, KeyRecord } from '../src/index.ts'
import { controlTime, until } from './controlTime.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { Behaviour, FakeUpstream } from './fakeUpstream.ts'
import { openRaw, postBytes } from './rawConnection.ts'
import { chainIds, nothingThere, post, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

const toStop: (() => Promise<unknown>)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

const fake = async (chainId: number = chainIds.testnet, path = ''): Promise<FakeUpstream> => {
  const upstream = await startFakeUpstream(chainId, path)
  toStop.push(upstream.stop)
  return upstream
}

const gatewayOf = async (
  urls: readonly string[],
  options: Partial<GatewayOptions> = {},
): Promise<StartedGateway & { address: string }> => {
  const started = await startGateway({ testnet: urls }, options)
  toStop.push(() => started.gateway.close({ graceMs: 0 }))
  return { ...started, address: getApiKeyUrl(started.url, 'testnet', started.testnetKey) }
}

const rejectedPort = async (): Promise<number> => {
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
const says =
  (text: string): Behaviour =>
  () =>
    text
const hang: Behaviour = () => undefined
const dribble: Behaviour = (_, response) => {
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

const faults: readonly { name: string; behave: Behaviour; end: typeof bad | typeof slow | typeof large }[] = [
  { name: 'resets the connection', behave: reset, end: bad },
  { name: 'resets it in the middle of the body', behave: resetMidBody, end: bad },
  { name: 'ends it in the middle of the body', behave: closedMidBody, end: bad },
  { name: 'sends an HTML page', behave: says('<html>busy</html>'), end: bad },
  { name: 'sends nothing', behave: says(''), end: bad },
  { name: 'sends half of the JSON', behave: (call) => result(call, '{"a":').slice(0, -1), end: bad },
  { name: 'sends half of a large JSON', behave: (call) => result(call, `["${'x'.repeat(80_000)}`), end: bad },
  { name: 'sends more after the JSON', behave: (call) => `${result(call, '1')}x`, end: bad },
  {
    name: 'sends bytes that are not UTF-8',
    behave: (call, response) => void response.end(Buffer.from(result(call, '"\u00ff"'), 'latin1')),
    end: bad,
  },
  { name: 'answers another id', behave: (call) => result({ ...call, id: call.id + 1 }, '1'), end: bad },
  { name: 'answers the id as a string', behave: (call) => `{"jsonrpc":"2.0","id":"${call.id}","result":1}`, end: bad },
  { name: 'answers a result with id null', behave: says('{"jsonrpc":"2.0","id":null,"result":1}'), end: bad },
  { name: 'answers without an id', behave: says('{"jsonrpc":"2.0","result":1}'), end: bad },
  { name: 'answers without a result or an error', behave: (call) => `{"jsonrpc":"2.0","id":${call.id}}`, end: bad },
  { name: 'answers two results', behave: (call) => `{"id":${call.id},"result":1,"result":2}`, end: bad },
  { name: 'answers an error that is a text', behave: (call) => `{"id":${call.id},"error":"no"}`, end: bad },
  { name: 'answers an array', behave: (call) => `[${result(call, '1')}]`, end: bad },
  { name: 'answers 500', behave: status(500), end: bad },
  { name: 'answers 502', behave: status(502), end: bad },
  { name: 'answers 401 to us', behave: status(401), end: bad },
  { name: 'redirects', behave: status(302), end: bad },
  { name: 'answers 429', behave: status(429), end: busy },
  { name: 'answers 503', behave: status(503), end: busy },
  { name: 'hangs', behave: hang, end: slow },
  { name: 'dribbles', behave: dribble, end: slow },
  { name: 'sends more than it may', behave: (call) => result(call, `"${'x'.repeat(200_000)}"`), end: large },
]

const limits = { upstreamTimeoutMs: 300, maxResponseBytes: 100_000 }

describe('an upstream that', () => {
  test.each(faults)('$name: $end.status for a single call, and the next one works', async ({ behave, end }) => {
    const pass = controlTime()
    const upstream = await fake()
    const { port, testnetKey } = await gatewayOf([upstream.url], { limits })
    const connection = await openRaw(port)
    for (const body of [read, write]) {
      upstream.behave = behave
      upstream.bodies.length = 0
      connection.send(postBytes(`/testnet/${testnetKey}`, body))
      await until(() => upstream.bodies.length > 0)
      if (end === slow) pass(limits.upstreamTimeoutMs)
      const answer = await connection.next()
      expect(answer.status).toBe(end.status)
      expect(JSON.parse(answer.body)).toEqual({
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: end.code,
          message: end.message,
          data: { ...end.data, requestId: answer.headers['x-request-id'] },
        },
      })
      expect(answer.headers['x-chain-id']).toBe('31337')
      upstream.behave = (call) => result(call, '"0x2"')
      connection.send(postBytes(`/testnet/${testnetKey}`, body))
      expect((await connection.next()).body).toBe('{"jsonrpc":"2.0","id":1,"result":"0x2"}')
    }
    connection.destroy()
  })

  test('rejects connections: 503, and calls work again once it is back', async () => {
    const port = await rejectedPort()
    const { address, url } = await gatewayOf([`http://127.0.0.1:${port}`])
    const answer = await post(address, read)
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      503,
      {
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: -32603,
          message: 'No healthy upstream for testnet',
          data: { reason: 'no_upstream', requestId: answer.headers.get('x-request-id') },
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

  test('goes away and comes back', async () => {
    const upstream = await fake()
    const { address, entries } = await gatewayOf([upstream.url])
    expect((await post(address, read)).status).toBe(200)
    await upstream.stop()
    const gone = await post(address, read)
    expect(gone.status).toBe(503)
    const port = Number(new URL(upstream.url).port)
    const again = createFakeAt(port)
    toStop.push(await again)
    await expect.poll(async () => (await post(address, read)).status).toBe(200)
    expect(
      entries
        .filter((entry) => entry.event === 'upstream' && entry.network === 'testnet')
        .map((entry) => ('state' in entry ? entry.state : '')),
    ).toEqual(['healthy', 'unreachable', 'healthy'])
  })

  test('is of another chain is never asked anything else', async () => {
    const wrong = await fake(5)
    const { address, entries } = await gatewayOf([wrong.url])
    expect((await post(address, read)).status).toBe(503)
    expect(wrong.bodies).toEqual([])
    expect(entries).toContainEqual({
      event: 'upstream',
      network: 'testnet',
      upstream: 'testnet-1',
      state: 'wrongChain',
    })
    const right = await fake()
    const both = await gatewayOf([wrong.url, right.url])
    expect((await post(both.address, read)).status).toBe(200)
    expect([wrong.bodies.length, right.bodies.length]).toEqual([0, 1])
  })
})

/** An upstream on a given port, for one that comes back. */
const createFakeAt = async (port: number): Promise<() => Promise<void>> => {
  const { createServer: createHttpServer } = await import('node:http')
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

describe('the second try', () => {
  const retried = faults.filter(({ end }) => end !== slow && end !== large)

  test.each(retried)('goes to another upstream for a read, when the first $name', async ({ behave }) => {
    const [first, second] = [await fake(), await fake()]
    first.behave = behave
    const { address } = await gatewayOf([first.url, second.url])
    expect((await post(address, read)).text).toBe('{"jsonrpc":"2.0","id":1,"result":"0x1"}')
    expect([first.bodies.length, second.bodies.length]).toEqual([1, 1])
  })

  test.each(retried)('is not made for a raw transaction, when the first $name', async ({ behave }) => {
    const [first, second] = [await fake(), await fake()]
    first.behave = behave
    const { address } = await gatewayOf([first.url, second.url])
    expect((await post(address, write)).status).toBeGreaterThanOrEqual(502)
    expect((await post(address, `[${write}]`)).text).toContain('"error"')
    expect([first.bodies.length, second.bodies.length]).toEqual([2, 0])
  })

  test('is made for a raw transaction where nothing was sent', async () => {
    const [first, second] = [await fake(), await fake()]
    const { address } = await gatewayOf([first.url, second.url])
    await first.stop()
    expect((await post(address, write)).status).toBe(200)
    expect(second.bodies.length).toBe(1)
  })

  test('is not made for a filter: its changes are gone once they were read', async () => {
    const [first, second] = [await fake(), await fake()]
    const { address } = await gatewayOf([first.url, second.url])
    const made = JSON.parse((await post(address, read.replace('eth_call', 'eth_newBlockFilter'))).text) as {
      result: string
    }
    first.behave = status(500)
    const changes = `{"jsonrpc":"2.0","id":1,"method":"eth_getFilterChanges","params":["${made.result}"]}`
    expect((await post(address, changes)).status).toBe(502)
    expect([first.bodies.length, second.bodies.length]).toEqual([2, 0])
  })

  test('is made on the same upstream only where a connection broke', async () => {
    const upstream = await fake()
    let calls = 0
    upstream.behave = (call, response) => {
      calls += 1
      return calls === 1 ? reset(call, response) : result(call, '"0x1"')
    }
    const { address } = await gatewayOf([upstream.url])
    expect((await post(address, read)).status).toBe(200)
    upstream.behave = status(500)
    upstream.bodies.length = 0
    expect((await post(address, read)).status).toBe(502)
    expect(upstream.bodies.length).toBe(1)
  })

  test('there is no third', async () => {
    const three = [await fake(), await fake(), await fake()]
    for (const upstream of three.slice(0, 2)) upstream.behave = status(500)
    const { address } = await gatewayOf(three.map(({ url }) => url))
    expect((await post(address, read)).status).toBe(502)
    expect(three.map(({ bodies }) => bodies.length)).toEqual([1, 1, 0])
  })
})

describe('a caller that goes away', () => {
  test.each([
    ['ends the read in flight', read, 1],
    ['ends the reads of its batch', `[${read},${read}]`, 1],
    ['does not end its raw transaction', write, 0],
  ])('%s', async (_, body, cut) => {
    const upstream = await fake()
    upstream.behave = hang
    const { port, testnetKey, entries, address } = await gatewayOf([upstream.url])
    const connection = await openRaw(port)
    connection.send(postBytes(`/testnet/${testnetKey}`, body))
    await expect.poll(() => upstream.bodies.length).toBe(1)
    connection.reset()
    await expect.poll(() => entries.some(({ event }) => event === 'disconnected')).toBe(true)
    // An unwanted cut would arrive before the next call.
    upstream.behave = (call) => result(call, '"0x1"')
    expect((await post(address, read.replace('eth_call', 'eth_gasPrice'))).status).toBe(200)
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
    const upstream = await fake()
    const { address } = await gatewayOf([upstream.url], { keys: { find } })
    const answer = await post(address, read)
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
      503,
      { id: null, error: { code: -32603, data: { reason: 'key_store_unavailable' } } },
    ])
    expect(answer.text).not.toContain('kr_secret')
  })

  test.each(['suspended', 'ACTIVE', '', undefined])('a key of the state %s is rejected', async (status) => {
    const upstream = await fake()
    const record = { id: 'a', kind: 'apiKey', networks: ['testnet'], status } as unknown as KeyRecord
    for (const find of [() => record, async () => record]) {
      const { address } = await gatewayOf([upstream.url], { keys: { find } })
      const answer = await post(address, read)
      expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
        401,
        { error: { code: -32016, message: 'API key is not active', data: { reason: 'key_disabled' } } },
      ])
    }
    expect(upstream.bodies).toEqual([])
  })

  test.each([
    ['null', null, 401, 'key_unknown'],
    ['a record without networks', { id: 'a', kind: 'apiKey', status: 'active' }, 503, 'key_store_unavailable'],
    ['a text', 'a', 503, 'key_store_unavailable'],
  ])('%s for a record is rejected, and the gateway lives on', async (_, record, status, reason) => {
    const found = record as unknown as KeyRecord
    for (const find of [() => found, async () => found]) {
      const { address } = await gatewayOf([nothingThere], { keys: { find } })
      for (let run = 0; run < 2; run += 1) {
        const answer = await post(address, read)
        expect([answer.status, JSON.parse(answer.text)]).toMatchObject([status, { error: { data: { reason } } }])
      }
    }
  })

  test('a store may answer with a promise of its own kind', async () => {
    const upstream = await fake()
    const record: KeyRecord = { id: 'a', kind: 'apiKey', networks: ['testnet'], status: 'active' }
    const later = Promise.resolve(record)
    // oxlint-disable-next-line unicorn/no-thenable -- what is tested
    const find = (): Promise<KeyRecord> => ({ then: later.then.bind(later) }) as Promise<KeyRecord>
    const { address } = await gatewayOf([upstream.url], { keys: { find } })
    expect((await post(address, read)).status).toBe(200)
  })

  test('a store may answer later', async () => {
    const upstream = await fake()
    const find = async () => ({ id: 'a', kind: 'apiKey', networks: ['testnet'], status: 'active' }) as const
    const { address } = await gatewayOf([upstream.url], { keys: { find } })
    expect((await post(address, read)).status).toBe(200)
  })
})

describe('options', () => {
  test.each([
    ['debug_traceTransaction', { services: { debug: true } }],
    ['trace_block', { services: { trace: true } }],
    ['anvil_setBalance', { unsafeNodeMethods: true }],
    ['evm_mine', { unsafeNodeMethods: true }],
    ['hardhat_reset', { unsafeNodeMethods: true }],
  ] as const)('%s is offered where it was turned on', async (method, options) => {
    const upstream = await fake()
    const { address } = await gatewayOf([upstream.url], options)
    expect((await post(address, read.replace('eth_call', method))).text).toContain('"result"')
    expect((await post(address, read.replace('eth_call', 'eth_accounts'))).text).toContain('-32601')
  })

  test('an upstream URL that is none is rejected without being named', async () => {
    await expect(gatewayOf(['ftp://user:hunter22@secret.example/'])).rejects.toThrow(
      new TypeError('networks.testnet.upstreams[0].url is not an http or https URL'),
    )
  })

  test('publicUrl is what listen returns', async () => {
    const started = await startGateway({ testnet: [nothingThere] }, { publicUrl: 'https://rpc.example.org/eth/' })
    toStop.push(() => started.gateway.close())
    expect(started.url).toBe('https://rpc.example.org/eth')
    for (const publicUrl of ['rpc.example.org', 'ftp://x', 'https://x/?a', 'https://u:p@x'])
      await expect(startGateway({ testnet: [nothingThere] }, { publicUrl })).rejects.toThrow(TypeError)
  })

  test('a path, a query and credentials of an upstream URL are used', async () => {
    const upstream = await fake(chainIds.testnet, '/v3/topsecrettoken?k=anothersecret')
    const { address } = await gatewayOf([upstream.url.replace('//', '//user:pass%20word@')])
    expect((await post(address, read)).status).toBe(200)
    expect(upstream.headers[0]?.authorization).toBe(`Basic ${Buffer.from('user:pass word').toString('base64')}`)
  })
})
