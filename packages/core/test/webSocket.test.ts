import { batch, createTransport, failover, webSocket } from '@keyrail/core'
import type { TransportOptions, WebSocketOptions } from '@keyrail/core'
import { Agent } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket as NodeWebSocket } from 'ws'
import { findLeaks } from './leakWalk.ts'
import { echoMethod, startSocketServer } from './socketServer.ts'
import type { SocketServer } from './socketServer.ts'
import { getFailure } from './getFailure.ts'

const server: SocketServer = await startSocketServer()
const other: SocketServer = await startSocketServer()
const opened: { readonly close: () => void }[] = []
beforeEach(() => {
  server.reset()
  other.reset()
})
afterEach(() => {
  for (const transport of opened.splice(0)) transport.close()
})
afterAll(() => Promise.all([server.close(), other.close()]))

const implementations: readonly (readonly [string, WebSocketOptions])[] = [
  ['the WebSocket of the platform', {}],
  ['the package ws', { WebSocket: NodeWebSocket }],
]

describe.each(implementations)('over %s', (name, implementation) => {
  const create = (
    options: Partial<TransportOptions> = {},
    more: WebSocketOptions = {},
  ): ReturnType<typeof createTransport> => {
    const transport = createTransport({
      url: server.url,
      webSocket: webSocket({ requests: true, ...implementation, ...more }),
      ...options,
    } as TransportOptions)
    opened.push(transport)
    return transport
  }

  test('calls share one connection, and responses in another order find their calls', async () => {
    const held: (() => void)[] = []
    server.script = (call) => {
      held.push(() => call.reply(call.params[0]))
      if (held.length === 3) for (const reply of held.reverse()) reply()
    }
    const { request } = create()
    const calls = ['a', 'b', 'c'].map((param) => request({ method: 'eth_call', params: [param] }))
    expect(await Promise.all(calls)).toEqual(['a', 'b', 'c'])
    expect(server.handshakes).toHaveLength(1)
  })

  test('headers and the token are sent with the handshake', async () => {
    const { request } = create({ headers: { 'x-team': 'wallet' }, jwt: 'a-token-of-mine' })
    await request({ method: 'eth_chainId' })
    expect(server.handshakes[0]?.headers).toMatchObject({ 'x-team': 'wallet', authorization: 'Bearer a-token-of-mine' })
  })

  test('the handshake has a user agent unless the constructor is given, and a given one wins', async () => {
    await create().request({ method: 'eth_chainId' })
    await create({ headers: { 'User-Agent': 'my-app/2' } }).request({ method: 'eth_chainId' })
    const agents = server.handshakes.map(({ headers }) => headers['user-agent'])
    const isGiven = implementation.WebSocket !== undefined
    expect(agents).toEqual([isGiven ? undefined : expect.stringMatching(/^keyrail\/\d+\.\d+\.\d+/), 'my-app/2'])
  })

  test('an error response has the kind that it has over HTTP', async () => {
    server.script = ({ id, send }) =>
      send({ jsonrpc: '2.0', id, error: { code: 3, message: 'execution reverted', data: '0x' } })
    const failure = await getFailure(create().request({ method: 'eth_call', params: [{}] }))
    expect(failure).toMatchObject({ kind: 'revert', source: 'node', retryable: false, status: undefined })
    expect(failure.redactedUrl).toMatch(/^ws:/)
  })

  test('a write that the node rejects is rejected, and not unknown', async () => {
    server.script = ({ id, send }) => send({ jsonrpc: '2.0', id, error: { code: -32000, message: 'nonce too low' } })
    const failure = await getFailure(create().request({ method: 'eth_sendRawTransaction', params: ['0x00'] }))
    expect(failure).toMatchObject({ kind: 'txRejected' })
  })

  test('a read is repeated on a new connection if the connection breaks', async () => {
    server.script = (call) => (call.connection === 1 ? call.tcp.destroy() : echoMethod(call))
    expect(await create().request({ method: 'eth_gasPrice' })).toBe('eth_gasPrice')
    expect(server.calls.map(({ connection }) => connection)).toEqual([1, 2])
  })

  test('a write that was sent before the connection broke is not sent again', async () => {
    server.script = ({ tcp }) => tcp.destroy()
    const failure = await getFailure(create().request({ method: 'eth_sendRawTransaction', params: ['0x00'] }))
    expect(failure).toMatchObject({ kind: 'network', retryable: false })
    expect(failure.message).toContain('the call may have run')
    expect(server.calls).toHaveLength(1)
  })

  test('a write in flight is not reported as rejected when the key is revoked', async () => {
    server.script = ({ socket }) => socket.close(1008, 'key_revoked')
    const failure = await getFailure(create().request({ method: 'eth_sendRawTransaction', params: ['0x00'] }))
    expect(failure).toMatchObject({ kind: 'network', retryable: false })
  })

  test('a write is sent if only the attempt to connect failed', async () => {
    server.rejection = { status: 503, body: '', once: true }
    const call = create().request({ method: 'eth_sendRawTransaction', params: ['0x00'] })
    expect(await call).toBe('eth_sendRawTransaction')
    expect(server.handshakes).toHaveLength(2)
  })

  test.each([
    [1008, 'key_revoked', 'auth', 'service'],
    [1008, 'ip_not_allowed', 'forbidden', 'service'],
    [1008, 'too_many_notifications', 'range', 'service'],
    [1008, 'some rule', 'forbidden', 'service'],
    [4001, 'exceeded rate limit', 'throttled', 'service'],
    [1011, 'no_upstream', 'unavailable', 'service'],
    [1011, '', 'unavailable', 'service'],
    [1012, 'service restart', 'network', 'transport'],
    [1001, '', 'network', 'transport'],
    [1000, '', 'network', 'transport'],
  ])('close code %i with the reason "%s" is of kind %s', async (code, reason, kind, source) => {
    server.script = ({ socket }) => socket.close(code, reason)
    const { request } = create({ retry: false })
    const failure = await getFailure(request({ method: 'eth_gasPrice' }))
    expect(failure).toMatchObject({ kind, source })
    expect(failure.message).toContain(String(code))
    if (code === 1008) expect(failure.rpcError?.data).toEqual({ reason })
  })

  test('only the largest call in flight fails for the message that is too big', async () => {
    server.script = ({ socket }) => server.calls.length === 2 && socket.close(1009)
    const { request } = create({ retry: false })
    const small = getFailure(request({ method: 'eth_call', params: ['0x'] }))
    const large = getFailure(request({ method: 'eth_call', params: ['0x'.padEnd(500, '0')] }))
    expect([(await small).kind, (await large).kind]).toEqual(['network', 'invalidRequest'])
  })

  test('a rejected handshake has the kind of a rejected POST, and is not retried', async () => {
    const error = { code: -32000, message: 'The key is revoked.', data: { reason: 'key_revoked' } }
    server.rejection = { status: 401, body: JSON.stringify({ jsonrpc: '2.0', id: null, error }) }
    const failure = await getFailure(create().request({ method: 'eth_gasPrice' }))
    expect(failure).toMatchObject({ kind: 'auth', status: 401, rpcError: error, retryable: false })
    // Node's own WebSocket repeats a handshake that is rejected with 401.
    expect(server.handshakes.length).toBeLessThanOrEqual(name.includes('ws') ? 1 : 2)
  })

  test.each(['', ' \r\n', 'ping', 'PONG', 'heartbeat', 'keep-alive', '1', 'null', '""', '{}', '[]'])(
    'the message %j, with which a server keeps a connection alive, is ignored',
    async (message) => {
      server.script = ({ send, reply }) => {
        send(message)
        reply('0x1')
      }
      expect(await create().request({ method: 'eth_gasPrice' })).toBe('0x1')
      expect(server.handshakes).toHaveLength(1)
    },
  )

  test('a connection that ended has no listeners', async () => {
    const sockets: NodeWebSocket[] = []
    const Recorded = class extends NodeWebSocket {
      constructor(url: string, options: object) {
        super(url, options)
        sockets.push(this)
      }
    }
    server.script = ({ tcp }) => tcp.destroy()
    const { request, close } = create({ retry: false }, { WebSocket: Recorded })
    expect(await getFailure(request({ method: 'eth_gasPrice' }))).toMatchObject({ kind: 'network' })
    server.script = echoMethod
    await expect.poll(() => request({ method: 'eth_gasPrice' }).catch(() => undefined)).toBe('eth_gasPrice')
    close()
    expect(sockets).toHaveLength(2)
    for (const { onopen, onmessage, onclose } of sockets)
      expect([onopen, onmessage, onclose]).toEqual([null, null, null])
  })

  test('a message that is not JSON ends the connection', async () => {
    server.script = (call) => (call.connection === 1 ? call.send('<html>') : echoMethod(call))
    expect(await create().request({ method: 'eth_gasPrice' })).toBe('eth_gasPrice')
    expect(server.handshakes).toHaveLength(2)
  })

  test('a second response with the same id and one with an unknown id are ignored', async () => {
    server.script = ({ id, reply, send }) => {
      send({ jsonrpc: '2.0', id: id + 7, result: 'of no call' })
      send({ jsonrpc: '2.0', id: `call ${id}`, result: 'of another type' })
      reply('first')
      reply('second')
    }
    const { request } = create()
    expect(await request({ method: 'eth_gasPrice' })).toBe('first')
    expect(await request({ method: 'eth_gasPrice' })).toBe('first')
    expect(server.handshakes).toHaveLength(1)
  })

  test('an error without an id belongs to the only call in flight', async () => {
    server.script = ({ send }) =>
      send({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'invalid request' } })
    expect(await getFailure(create().request({ method: 'eth_gasPrice' }))).toMatchObject({ kind: 'invalidRequest' })
  })

  test('binary messages are read', async () => {
    server.script = ({ id, socket }) => socket.send(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' })))
    expect(await create().request({ method: 'eth_gasPrice' })).toBe('0x1')
  })

  test('only the call whose response is larger than maxResponseBytes fails', async () => {
    server.script = ({ method, reply }) => reply(method === 'eth_getCode' ? '0x'.padEnd(2_000, '0') : '0x1')
    const { request } = create({ maxResponseBytes: 1_000 })
    const code = getFailure(request({ method: 'eth_getCode', params: ['0x'] }))
    expect(await request({ method: 'eth_gasPrice' })).toBe('0x1')
    expect(await code).toMatchObject({ kind: 'badResponse', retryable: false })
  })

  test('a deadline and an abort end a call, and the connection stays', async () => {
    server.script = (call) => call.method === 'eth_gasPrice' && echoMethod(call)
    const { request } = create()
    // Once the connection is open, every call is sent, also on a busy machine.
    await request({ method: 'eth_gasPrice' })
    expect(await getFailure(request({ method: 'eth_call' }, { timeoutMs: 50 }))).toMatchObject({ kind: 'timeout' })
    const reason = new Error('enough')
    await expect(request({ method: 'eth_call', params: [1] }, { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    )
    const controller = new AbortController()
    const aborted = request({ method: 'eth_call', params: [2] }, { signal: controller.signal })
    await expect.poll(() => server.calls.length).toBe(3)
    controller.abort(reason)
    await expect(aborted).rejects.toBe(reason)
    expect(await request({ method: 'eth_gasPrice' })).toBe('eth_gasPrice')
    expect(server.handshakes).toHaveLength(1)
  })

  test('close ends the calls in flight and the connection', async () => {
    server.script = () => {}
    const transport = create()
    const call = getFailure(transport.request({ method: 'eth_gasPrice' }))
    await expect.poll(() => server.calls.length).toBe(1)
    transport.close()
    expect(await call).toMatchObject({ kind: 'aborted' })
    await expect.poll(() => server.open()).toBe(0)
    expect(await getFailure(transport.request({ method: 'eth_gasPrice' }))).toMatchObject({ kind: 'aborted' })
    expect(server.handshakes).toHaveLength(1)
  })

  test('a connection that nobody uses is closed, and opened again for the next call', async () => {
    const { request } = create({}, { heartbeatMs: 50 })
    await request({ method: 'eth_gasPrice' })
    await expect.poll(() => server.open()).toBe(0)
    expect(await request({ method: 'eth_gasPrice' })).toBe('eth_gasPrice')
    expect(server.handshakes).toHaveLength(2)
    // On a busy machine the connection may also be checked while the call waits.
    expect(server.calls.filter(({ method }) => method === 'eth_gasPrice')).toHaveLength(2)
  })

  test('a silent server gets a query for the chain id while a call waits', async () => {
    server.script = ({ method, reply }) => method === 'eth_chainId' && reply('0x1')
    const { request } = create({}, { heartbeatMs: 50 })
    await getFailure(request({ method: 'eth_call' }, { timeoutMs: 300, retries: 0 }))
    expect(server.calls.filter(({ method }) => method === 'eth_chainId')).toHaveLength(1)
    expect(server.handshakes).toHaveLength(1)
  })

  test('a connection to the wrong chain is closed', async () => {
    server.script = (call) => call.method === 'eth_chainId' && call.reply('0x5')
    const failure = await getFailure(create({ chainId: 1 }).request({ method: 'eth_gasPrice' }))
    expect(failure).toMatchObject({ kind: 'wrongNetwork', source: 'client', retryable: false })
    await expect.poll(() => server.open()).toBe(0)
  })

  test('with several endpoints, a call moves to the next one', async () => {
    server.rejection = { status: 503, body: '' }
    const { request } = create({ url: undefined, endpoints: failover([{ url: server.url }, { url: other.url }]) })
    expect(await request({ method: 'eth_gasPrice' })).toBe('eth_gasPrice')
    expect(other.handshakes).toHaveLength(1)
  })

  test('batches are not used: each call is a separate message', async () => {
    const transport = create({ batch: batch() })
    await Promise.all(['eth_gasPrice', 'eth_blockNumber'].map((method) => transport.request({ method })))
    expect(server.calls.map(({ method }) => method)).toEqual(['eth_gasPrice', 'eth_blockNumber'])
  })

  test('no key is visible in the failure of a connection, with any response of the server', async () => {
    const key = 'kr_aKeyThatNobodyMaySee0123456789'
    const token = 'eyJhbGciOi.JUSTATOKEN.0123456789'
    const transport = create({
      url: undefined,
      baseUrl: server.url,
      apiKey: async () => key,
      jwt: token,
      retry: false,
    } as never)
    const failures: unknown[] = [transport]
    for (const script of [
      ({ socket }) => socket.close(1008, `${key.slice(0, 40)}`),
      ({ socket }) => socket.close(1011, token),
      ({ id, send }) =>
        send({ jsonrpc: '2.0', id, error: { code: -1, message: `/v2/${key}`, data: { [token]: key } } }),
      ({ send }) => send(`{${key}`),
    ] as SocketServer['script'][]) {
      server.script = script
      for (const _ of [1, 2]) failures.push(await getFailure(transport.request({ method: 'eth_gasPrice' })))
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    expect(failures).toHaveLength(9)
    expect(findLeaks(failures, key, token)).toEqual([])
  })
})

test('if POSTs work, the failure says that the server does not accept WebSockets', async () => {
  const { url } = server
  const RejectingWebSocket = class extends NodeWebSocket {
    constructor() {
      super('ws://127.0.0.1:9')
    }
  }
  const transport = createTransport({
    url,
    retry: false,
    webSocket: webSocket({ requests: true, WebSocket: RejectingWebSocket }),
  })
  opened.push(transport)
  const failure = await getFailure(transport.request({ method: 'eth_gasPrice' }))
  expect(failure).toMatchObject({ kind: 'network' })
  expect(failure.message).toContain('the same URL responds to POST')
})

test('a separate url is used with its scheme', async () => {
  const transport = createTransport({
    url: 'https://node.example/rpc',
    webSocket: webSocket({ url: `${server.url.replace('http', 'ws')}/ws/v3`, requests: true }),
  })
  opened.push(transport)
  await transport.request({ method: 'eth_gasPrice' })
  expect(server.handshakes[0]?.url).toBe('/ws/v3')
})

test('a platform without WebSocket is reported, with what to pass instead', async () => {
  const { WebSocket } = globalThis
  Reflect.deleteProperty(globalThis, 'WebSocket')
  try {
    const transport = createTransport({ url: server.url, webSocket: webSocket({ requests: true }) })
    opened.push(transport)
    const failure = await getFailure(transport.request({ method: 'eth_gasPrice' }))
    expect(failure).toMatchObject({ kind: 'invalidRequest' })
    expect(failure.message).toContain('pass a constructor: webSocket({ WebSocket })')
  } finally {
    Object.assign(globalThis, { WebSocket })
  }
})

test('a given constructor gets the URL alone, so that its own options, such as the agent of a proxy, are used', async () => {
  const created: unknown[][] = []
  const agent = new Agent()
  onTestFinished(() => agent.destroy())
  const connect = vi.spyOn(agent, 'createConnection')
  const ProxySocket = class extends NodeWebSocket {
    constructor(url: string, ...rest: string[][]) {
      created.push([url, ...rest])
      super(url, rest[0] ?? [], { agent })
    }
  }
  const transport = createTransport({
    url: server.url,
    webSocket: webSocket({ requests: true, WebSocket: ProxySocket }),
  })
  opened.push(transport)
  await transport.request({ method: 'eth_gasPrice' })
  expect(created).toEqual([[server.url.replace('http', 'ws')]])
  expect(connect).toHaveBeenCalledOnce()
})

test('in React Native, which takes headers as the third argument, headers and the token are sent', async () => {
  const NativeSocket = class extends NodeWebSocket {
    constructor(url: string, protocols: unknown, options: object) {
      super(url, Array.isArray(protocols) ? (protocols as string[]) : [], options)
    }
  }
  vi.stubGlobal('navigator', { product: 'ReactNative' })
  vi.stubGlobal('WebSocket', NativeSocket)
  onTestFinished(() => void vi.unstubAllGlobals())
  const feature = webSocket({ requests: true })
  const transport = createTransport({
    url: server.url,
    webSocket: feature,
    headers: { 'x-team': 'wallet' },
    jwt: 'a-token-of-mine',
  })
  opened.push(transport)
  await transport.request({ method: 'eth_gasPrice' })
  expect(server.handshakes[0]?.headers).toMatchObject({ 'x-team': 'wallet', authorization: 'Bearer a-token-of-mine' })
})

describe('in a browser, which treats the option with headers as a protocol', () => {
  const BrowserSocket = class extends NodeWebSocket {
    constructor(url: string, protocols?: string[]) {
      if (protocols && !Array.isArray(protocols)) throw new SyntaxError('The subprotocol is invalid')
      super(url, protocols ?? [])
    }
  }
  const create = (options: object): ReturnType<typeof createTransport> => {
    const feature = webSocket({ requests: true, WebSocket: BrowserSocket })
    const transport = createTransport({ url: server.url, webSocket: feature, ...options })
    opened.push(transport)
    return transport
  }

  test('no user agent is sent', async () => {
    await create({}).request({ method: 'eth_gasPrice' })
    expect(server.handshakes[0]?.headers['user-agent']).toBeUndefined()
  })

  test('the token is sent as a protocol', async () => {
    await create({ jwt: 'eyJhbGciOi.JUSTATOKEN.0123456789' }).request({ method: 'eth_gasPrice' })
    const { headers } = server.handshakes[0] as IncomingMessage
    expect(headers['sec-websocket-protocol']).toBe('bearer,eyJhbGciOi.JUSTATOKEN.0123456789')
  })

  test.each([
    ['headers', { headers: { 'x-team': 'wallet' } }],
    ['a user agent', { headers: { 'user-agent': 'my-app/2' } }],
    ['headers and a token', { headers: { 'x-team': 'wallet' }, jwt: 'eyJhbGciOi.JUSTATOKEN.0123456789' }],
    ['a token that is no protocol', { jwt: 'a:token=of:mine' }],
    ['credentials in the URL', { url: server.url.replace('//', '//user:password@') }],
  ])('%s fail with an error that says how to fix it', async (_, options) => {
    const failure = await getFailure(create(options).request({ method: 'eth_gasPrice' }))
    expect(failure).toMatchObject({ kind: 'invalidRequest' })
    expect(failure.message).toContain('no headers and no credentials')
    expect(server.handshakes).toEqual([])
  })
})

test.each([
  [{ requests: 1 }, 'requests of webSocket must be true or false'],
  [{ url: 'node.example' }, 'url of webSocket must be a full URL'],
  [{ WebSocket: 'ws' }, 'WebSocket must be a constructor'],
  [{ heartbeatMs: 0 }, 'heartbeatMs must be a number from 1'],
  [{ heartbeat: 5 }, 'Did you mean "heartbeatMs"?'],
])('webSocket(%o) is rejected', (options, message) => {
  expect(() => webSocket(options as never)).toThrow(message)
})

test('one url for several endpoints is rejected', () => {
  const feature = webSocket({ url: 'wss://node.example/ws' })
  expect(() => createTransport({ endpoints: failover([{ url: server.url }]), webSocket: feature })).toThrow(
    'url of webSocket cannot be used together with endpoints',
  )
})
