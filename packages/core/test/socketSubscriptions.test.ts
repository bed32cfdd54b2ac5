import { setTimeout as sleep } from 'node:timers/promises'
import { batch, createTransport, failover, hooks, layer, webSocket } from '@keyrail/core'
import type { KeyrailError, TransportOptions, WebSocketOptions } from '@keyrail/core'
import { getSocket } from '@keyrail/core/internal'
import type { RpcSocket, SocketHandlers } from '@keyrail/core/internal'
import { afterAll, afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket as NodeWebSocket } from 'ws'
import { echoMethod, startSocketServer } from './socketServer.ts'
import type { SocketCall, SocketServer } from './socketServer.ts'
import { startAnvil } from './startAnvil.ts'
import { getFailure } from './getFailure.ts'

const server: SocketServer = await startSocketServer()
const other: SocketServer = await startSocketServer()
const opened: { readonly close: () => void }[] = []
beforeEach(() => {
  server.reset()
  other.reset()
  server.script = subscribing
  other.script = subscribing
})
afterEach(() => {
  for (const transport of opened.splice(0)) transport.close()
})
afterAll(() => Promise.all([server.close(), other.close()]))

/** The id of the subscription that a call opens. */
const getSubscriptionId = ({ id }: SocketCall): string => `0x${id}`

/** A node that opens every subscription. */
const subscribing = (call: SocketCall): void =>
  call.method === 'eth_subscribe' ? call.reply(getSubscriptionId(call)) : echoMethod(call)

const notify = ({ send }: SocketCall, subscription: string, result: unknown): void =>
  send({ jsonrpc: '2.0', method: 'eth_subscription', params: { subscription, result } })

const create = (options: Partial<TransportOptions> = {}, more: WebSocketOptions = {}): RpcSocket => {
  const transport = createTransport({ url: server.url, webSocket: webSocket(more), ...options } as TransportOptions)
  opened.push(transport)
  return getSocket(transport) as RpcSocket
}

/** Handlers that record what they are called with. */
const record = (): SocketHandlers & { readonly results: unknown[]; readonly ends: KeyrailError[] } => {
  const results: unknown[] = []
  const ends: KeyrailError[] = []
  return {
    results,
    ends,
    onNotification: ({ result, position }) => results.push(result ?? position),
    onEnd: (failure) => ends.push(failure),
  }
}

const methodsAt = ({ calls }: SocketServer): string[] => calls.map(({ method }) => method)

test('a subscription that the service ends has its error, and the others continue', async () => {
  let subscribe: SocketCall | undefined
  server.script = (call) => {
    subscribe = call
    subscribing(call)
  }
  const socket = create()
  const [ended, continued] = [record(), record()]
  await socket.subscribe(['logs', {}], ended)
  const id = getSubscriptionId(subscribe as SocketCall)
  await socket.subscribe(['newHeads'], continued)
  const second = getSubscriptionId(subscribe as SocketCall)
  const error = { code: -32001, message: 'Forbidden', data: { reason: 'address_not_allowed' } }
  subscribe?.send({ jsonrpc: '2.0', id: null, error, method: 'eth_subscription', params: { subscription: id } })
  notify(subscribe as SocketCall, second, 1)
  await expect.poll(() => continued.results).toEqual([1])
  expect(ended.ends).toMatchObject([{ kind: 'forbidden', source: 'service', method: 'eth_subscribe' }])
  expect([ended.results, continued.ends]).toEqual([[], []])
})

test.each([
  ['no params', undefined],
  ['no id', {}],
  ['an id that is no text', { subscription: 1 }],
])('an error with %s ends no subscription', async (_, params) => {
  const socket = create()
  const handlers = [record(), record()]
  const subscriptions = await Promise.all(handlers.map((one) => socket.subscribe(['newHeads'], one)))
  const call = server.calls[0] as SocketCall
  call.send({ jsonrpc: '2.0', method: 'eth_subscription', error: { code: -32000, message: 'odd' }, params })
  for (const { id } of subscriptions) notify(call, id, 1)
  await expect.poll(() => handlers.map(({ results }) => results)).toEqual([[1], [1]])
  expect(handlers.map(({ ends }) => ends)).toEqual([[], []])
})

test('a subscription that the service ends before the response with its id is ended, after its notifications', async () => {
  const error = { code: -32001, message: 'Forbidden', data: { reason: 'address_not_allowed' } }
  server.script = (call) => {
    const id = getSubscriptionId(call)
    notify(call, id, 1)
    call.send({ jsonrpc: '2.0', error, method: 'eth_subscription', params: { subscription: id } })
    notify(call, id, 'too late')
    call.reply(id)
  }
  const handlers = record()
  await create().subscribe(['logs', {}], handlers)
  await expect.poll(() => handlers.ends).toMatchObject([{ kind: 'forbidden' }])
  expect(handlers.results).toEqual([1])
})

test('a transport without webSocket has no socket', () => {
  const transport = createTransport({ url: server.url })
  expect(getSocket(transport)).toBeUndefined()
  transport.close()
})

test('nothing is opened before the first subscription, and other calls use HTTP', async () => {
  const transport = createTransport({ url: server.url, webSocket: webSocket() })
  opened.push(transport)
  expect(await transport.request({ method: 'eth_gasPrice' })).toBe('0x1')
  expect(server.handshakes).toHaveLength(0)
  expect(await getSocket(transport)?.request({ method: 'eth_gasPrice' })).toBe('eth_gasPrice')
  expect(server.handshakes).toHaveLength(1)
})

test('notifications reach their own subscription, and positions too', async () => {
  const socket = create()
  const [heads, logs] = [record(), record()]
  const [first, second] = [await socket.subscribe(['newHeads'], heads), await socket.subscribe(['logs', {}], logs)]
  const call = server.calls[0] as SocketCall
  notify(call, second.id, 'a log')
  notify(call, first.id, 'a head')
  notify(call, '0xnobody', 'lost')
  const position = { number: '0x1', hash: '0x2' }
  call.send({ jsonrpc: '2.0', method: 'eth_subscription', params: { subscription: second.id, position } })
  await expect.poll(() => logs.results).toEqual(['a log', position])
  expect(heads.results).toEqual(['a head'])
  expect(server.calls.map(({ params }) => params)).toEqual([['newHeads'], ['logs', {}]])
})

test('notifications before the response are delivered after the promise has resolved, in order', async () => {
  server.script = (call) => {
    notify(call, getSubscriptionId(call), 1)
    notify(call, '0xother', 'of nobody')
    notify(call, getSubscriptionId(call), 2)
    call.reply(getSubscriptionId(call))
    notify(call, getSubscriptionId(call), 3)
  }
  const handlers = record()
  let isKnown = false
  const early: unknown[] = []
  await create().subscribe(['newHeads'], {
    ...handlers,
    onNotification: (params) => {
      if (!isKnown) early.push(params)
      handlers.onNotification(params)
    },
  })
  isKnown = true
  await expect.poll(() => handlers.results).toEqual([1, 2, 3])
  expect(early).toEqual([])
})

test('a server that floods a connection before it responds is cut off', async () => {
  server.script = (call) => {
    for (let at = 0; at < 1_001; at++) notify(call, '0x1', at)
  }
  const failure = await getFailure(create({ retry: false }).subscribe(['newHeads'], record()))
  expect(failure).toMatchObject({ kind: 'badResponse' })
  expect(failure.message).toContain('too many notifications before the id')
})

test('unsubscribe ends a subscription at the server, and no handler is called after it', async () => {
  const handlers = record()
  const { id, unsubscribe } = await create().subscribe(['newHeads'], handlers)
  unsubscribe()
  await expect.poll(() => methodsAt(server)).toEqual(['eth_subscribe', 'eth_unsubscribe'])
  const [first, last] = server.calls as [SocketCall, SocketCall]
  expect(last.params).toEqual([id])
  notify(first, id, 'late')
  last.tcp.destroy()
  await expect.poll(() => server.open()).toBe(0)
  expect([handlers.results, handlers.ends]).toEqual([[], []])
})

test('a subscription that is aborted before the response is ended at the server', async () => {
  server.script = () => {}
  const controller = new AbortController()
  const subscribed = create().subscribe(['newHeads'], record(), controller.signal)
  await expect.poll(() => server.calls.length).toBe(1)
  const reason = new Error('enough')
  controller.abort(reason)
  await expect(subscribed).rejects.toBe(reason)
  const [call] = server.calls as [SocketCall]
  call.reply('0x7')
  await expect.poll(() => methodsAt(server)).toEqual(['eth_subscribe', 'eth_unsubscribe'])
  expect(server.calls[1]?.params).toEqual(['0x7'])
})

/** Subscribes as soon as the next connection may be opened. */
const afterBackoff = async (subscribe: () => Promise<unknown>): Promise<void> => {
  await subscribe().catch(async ({ retryAfterMs }: KeyrailError) => {
    if (retryAfterMs === undefined) throw new Error('this was no backoff')
    await sleep(retryAfterMs)
    await afterBackoff(subscribe)
  })
}

test('subscriptions end with their connection, and the next one opens another', async () => {
  const socket = create()
  const [first, second, third] = [record(), record(), record()]
  await socket.subscribe(['newHeads'], first)
  await socket.subscribe(['logs', {}], second)
  server.calls[0]?.tcp.destroy()
  await expect.poll(() => [first.ends.length, second.ends.length]).toEqual([1, 1])
  expect(first.ends[0]).toMatchObject({ kind: 'network', retryable: true, method: 'eth_subscribe' })
  await afterBackoff(() => socket.subscribe(['newHeads'], third))
  expect(server.handshakes).toHaveLength(2)
  expect(third.ends).toEqual([])
})

test('a revoked key ends a subscription for normal', async () => {
  const handlers = record()
  await create().subscribe(['newHeads'], handlers)
  server.calls[0]?.socket.close(1008, 'key_revoked')
  await expect.poll(() => handlers.ends.length).toBe(1)
  const [failure] = handlers.ends
  expect(failure).toMatchObject({ kind: 'auth', retryable: false, rpcError: { data: { reason: 'key_revoked' } } })
})

test('closing the transport ends its subscriptions', async () => {
  const handlers = record()
  await create().subscribe(['newHeads'], handlers)
  for (const transport of opened.splice(0)) transport.close()
  await expect.poll(() => handlers.ends).toMatchObject([{ kind: 'aborted' }])
  await expect.poll(() => server.open()).toBe(0)
})

test('an id that is in use, and a result that is no id, are rejected', async () => {
  const socket = create({ retry: false })
  server.script = ({ reply }) => reply('0x1')
  await socket.subscribe(['newHeads'], record())
  expect(await getFailure(socket.subscribe(['newHeads'], record()))).toMatchObject({ kind: 'badResponse' })
  server.script = ({ reply }) => reply(true)
  expect(await getFailure(socket.subscribe(['newHeads'], record()))).toMatchObject({ kind: 'badResponse' })
})

test('a rejected parameter is reported, and does not end the connection', async () => {
  server.script = ({ id, send }) => send({ jsonrpc: '2.0', id, error: { code: -32602, message: 'too many arguments' } })
  const socket = create()
  const failure = await getFailure(socket.subscribe(['newHeads', { cursor: null }], record()))
  expect(failure).toMatchObject({ kind: 'invalidRequest', rpcError: { code: -32602 } })
  server.script = subscribing
  await socket.subscribe(['newHeads'], record())
  expect(server.handshakes).toHaveLength(1)
})

test('subscribing fails at once, also during the backoff, and reports how long that takes', async () => {
  server.rejection = { status: 503, body: '' }
  const socket = create()
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.99)
  onTestFinished(() => random.mockRestore())
  expect(await getFailure(socket.subscribe(['newHeads'], record()))).toMatchObject({ kind: 'unavailable' })
  const { kind, retryable, retryAfterMs } = await getFailure(socket.subscribe(['newHeads'], record()))
  expect({ kind, retryable }).toEqual({ kind: 'unavailable', retryable: true })
  expect(retryAfterMs).toBeGreaterThan(0)
  expect(server.handshakes).toHaveLength(1)
  server.rejection = undefined
  await afterBackoff(() => socket.subscribe(['newHeads'], record()))
  expect(server.handshakes).toHaveLength(2)
})

test('with several endpoints, a subscription moves to the next one, and calls over HTTP stay', async () => {
  server.rejection = undefined
  server.script = ({ tcp }) => tcp.destroy()
  const transport = createTransport({
    endpoints: failover([{ url: server.url }, { url: other.url }]),
    webSocket: webSocket(),
  })
  opened.push(transport)
  const handlers = record()
  const { id } = await (getSocket(transport) as RpcSocket).subscribe(['newHeads'], handlers)
  notify(other.calls[0] as SocketCall, id, 'a head')
  await expect.poll(() => handlers.results).toEqual(['a head'])
  expect([server.handshakes.length, other.handshakes.length]).toEqual([1, 1])
})

test('an endpoint without WebSocket does not open the circuit breaker for its calls over HTTP', async () => {
  const rejected = new Set<string>()
  const RefusingWebSocket = class extends NodeWebSocket {
    constructor(url: string) {
      rejected.add(url)
      super('ws://127.0.0.1:9')
    }
  }
  const reroutes: unknown[] = []
  const transport = createTransport({
    endpoints: failover([{ url: server.url }, { url: other.url, weight: 0 }], { breaker: { failures: 1 } }),
    webSocket: webSocket({ WebSocket: RefusingWebSocket }),
    retry: false,
    hooks: hooks({ onReroute: (event) => void reroutes.push(event) }),
  })
  opened.push(transport)
  const socket = getSocket(transport) as RpcSocket
  for (let at = 0; at < 3; at++) await getFailure(socket.subscribe(['newHeads'], record()))
  reroutes.length = 0
  await transport.request({ method: 'eth_gasPrice' })
  expect(rejected.size).toBe(2)
  expect(reroutes).toEqual([])
})

test('a subscription passes hooks and layers, and no batch', async () => {
  const methods: string[] = []
  const seen: string[] = []
  const socket = create({
    batch: batch(),
    hooks: hooks({ onRequest: ({ method }) => void methods.push(method) }),
    layers: [
      layer((request) => (args, options) => {
        seen.push(args.method)
        return request(args, { ...options })
      }),
    ],
  })
  const handlers = record()
  const [{ id }] = await Promise.all([
    socket.subscribe(['newHeads'], handlers),
    socket.request({ method: 'eth_gasPrice' }),
  ])
  notify(server.calls[0] as SocketCall, id, 1)
  await expect.poll(() => handlers.results).toEqual([1])
  expect([methods, seen]).toEqual([
    ['eth_subscribe', 'eth_gasPrice'],
    ['eth_subscribe', 'eth_gasPrice'],
  ])
  expect(methodsAt(server)).toEqual(['eth_subscribe', 'eth_gasPrice'])
})

test('with requests, eth_subscribe of a caller without handlers is left to HTTP', async () => {
  const transport = createTransport({ url: server.url, webSocket: webSocket({ requests: true }) })
  opened.push(transport)
  // The response that the server gives to every POST. A node responds that it supports no notifications.
  expect(await transport.request({ method: 'eth_subscribe', params: ['newHeads'] })).toBe('0x1')
  expect(server.handshakes).toEqual([])
})

test.each([
  ['the platform', {}],
  ['ws', { WebSocket: NodeWebSocket }],
] as const)(
  'anvil sends its heads over the WebSocket of %s, and a subscription ends with anvil',
  async (_, implementation) => {
    const anvil = await startAnvil()
    const transport = createTransport({ url: anvil.url, webSocket: webSocket({ requests: true, ...implementation }) })
    opened.push(transport)
    const socket = getSocket(transport) as RpcSocket
    const [first, second] = [record(), record()]
    try {
      const { unsubscribe } = await socket.subscribe(['newHeads'], first)
      await transport.request({ method: 'anvil_mine', params: ['0x3'] })
      await expect.poll(() => first.results).toMatchObject([{ number: '0x1' }, { number: '0x2' }, { number: '0x3' }])
      unsubscribe()
      await socket.subscribe(['newHeads'], second)
      await transport.request({ method: 'anvil_mine', params: ['0x1'] })
      await expect.poll(() => second.results).toMatchObject([{ number: '0x4' }])
      expect(first.results).toHaveLength(3)
      const http = createTransport({ url: anvil.url })
      opened.push(http)
      const args = { method: 'eth_call', params: [{}, '0xffffff'] }
      const failures = await Promise.all([http, transport].map(({ request }) => getFailure(request(args))))
      const [{ kind, rpcError }, same] = failures as [KeyrailError, KeyrailError]
      expect(same).toMatchObject({ kind, rpcError })
    } finally {
      await anvil.stop()
    }
    await expect.poll(() => second.ends).toMatchObject([{ kind: 'network' }])
    expect(first.ends).toEqual([])
  },
)
