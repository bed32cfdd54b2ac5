import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { result } from '../fakeUpstream.ts'
import { post } from '../startGateway.ts'
import { batch, call, noLimits, startTenants, openTenants } from '../tenants/startTenants.ts'
import type { StartedTenants } from '../tenants/startTenants.ts'
import { openSocket } from './openSocket.ts'
import type { SocketMessage } from './openSocket.ts'

let started: StartedTenants

beforeAll(async () => {
  started = await startTenants({ bounds: { maxBodyBytes: 20_000 } })
})
afterAll(() => started.stop())
beforeEach(() => {
  started.upstream.behave = (seen) => result(seen, JSON.stringify(seen.method))
})

const reasons = (messages: unknown): unknown[] =>
  (messages as readonly SocketMessage[]).map(({ result: value, error }) => value ?? error?.data?.['reason'])

describe('a WebSocket', () => {
  test.each(['app', 'apiKey'] as const)('makes calls with the key of an %s', async (kind) => {
    const { path } = kind === 'app' ? started.addApp() : started.addApiKey()
    const socket = await openSocket(path)
    expect(await socket.call('eth_gasPrice', [], 'a')).toEqual({ jsonrpc: '2.0', id: 'a', result: 'eth_gasPrice' })
  })

  test('gets the same bytes as a POST, for calls, batches and errors', async () => {
    const { path } = started.addApp()
    const socket = await openSocket(path)
    const bodies = [
      call('eth_gasPrice'),
      ' {"jsonrpc":"2.0","id":1.0,"method":"eth_gasPrice"}',
      batch('eth_gasPrice', 'eth_nothing', 'eth_blockNumber'),
      call('eth_sendTransaction'),
      '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":1}',
      '{',
      '[]',
      '[1]',
    ]
    const withoutId = (text: string): string => text.replaceAll(/"requestId":"[^"]+"/g, '')
    for (const body of bodies) {
      socket.send(body)
      await expect.poll(() => socket.unread().length).toBe(1)
      expect(withoutId(socket.unread()[0] ?? '')).toBe(withoutId((await post(path, body)).text))
      await socket.next()
    }
  })

  test('accepts binary messages, as web3.py sends them, and responds with text', async () => {
    const socket = await openSocket(started.addApp().path)
    let isBinary: boolean | undefined
    socket.ws.on('message', (_, binary) => (isBinary = binary))
    socket.send(Buffer.from(call('eth_gasPrice')))
    expect(await socket.next()).toMatchObject({ id: 1, result: 'eth_gasPrice' })
    expect(isBinary).toBe(false)
  })

  test("works with the platform's WebSocket", async () => {
    const ws = new WebSocket(started.addApp().path.replace('http', 'ws'))
    onTestFinished(() => ws.close())
    await new Promise((resolve) => ws.addEventListener('open', resolve, { once: true }))
    ws.send(call('eth_gasPrice'))
    const text = await new Promise<string>((resolve) =>
      ws.addEventListener('message', ({ data }) => resolve(String(data)), { once: true }),
    )
    expect(JSON.parse(text)).toEqual({ jsonrpc: '2.0', id: 1, result: 'eth_gasPrice' })
  })

  test('gets no response to a notification of JSON-RPC, alone and in a batch', async () => {
    const socket = await openSocket(started.addApp().path)
    const quiet = '{"jsonrpc":"2.0","method":"eth_gasPrice"}'
    socket.send(quiet)
    socket.send(`[${quiet}]`)
    socket.send(`[${quiet},${call('eth_blockNumber')}]`)
    expect(await socket.next()).toEqual([{ jsonrpc: '2.0', id: 1, result: 'eth_blockNumber' }])
    expect(socket.unread()).toEqual([])
  })

  test('gets responses as they are ready, also out of order', async () => {
    const socket = await openSocket(started.addApp().path)
    started.upstream.behave = (seen, response) => {
      if (seen.method === 'eth_gasPrice') setTimeout(() => response.end(result(seen, '1')), 100)
      return seen.method === 'eth_gasPrice' ? undefined : result(seen, '2')
    }
    socket.send(call('eth_gasPrice', '[]', 1))
    socket.send(call('eth_maxPriorityFeePerGas', '[]', 2))
    expect([await socket.next(), await socket.next()]).toMatchObject([{ id: 2 }, { id: 1 }])
  })

  test('gets a large result whole, in one message, while others are sent', async () => {
    const socket = await openSocket(started.addApp().path)
    const large = 'x'.repeat(12_000_000)
    started.upstream.behave = (seen) => result(seen, seen.method === 'eth_getLogs' ? `"${large}"` : '"0x1"')
    socket.send(call('eth_getLogs', '[{}]', 1))
    for (let id = 2; id < 50; id += 1) socket.send(call('eth_gasPrice', '[]', id))
    const messages: SocketMessage[] = []
    while (messages.length < 49) messages.push((await socket.next()) as SocketMessage)
    expect(messages.find(({ id }) => id === 1)?.result === large).toBe(true)
  })

  test('has a log entry and a count for each request, whose id starts with that of the connection', async () => {
    const { path, key } = started.addApp()
    const socket = await openSocket(path)
    started.entries.length = 0
    started.meter.counted.length = 0
    await socket.call('eth_gasPrice')
    const failed = await socket.call('eth_sendTransaction')
    socket.ws.close()
    await expect.poll(() => started.entries.length).toBe(3)
    const [first, second, closed] = started.entries
    expect(first).toMatchObject({ event: 'request', network: 'testnet', method: 'eth_gasPrice', calls: 1, status: 200 })
    expect(second).toMatchObject({ event: 'request', method: 'other', reason: 'method_not_found' })
    expect(closed).toMatchObject({
      event: 'webSocket',
      state: 'closed',
      reason: 'client',
      requests: 2,
      notifications: 0,
    })
    const { requestId } = closed as { requestId: string }
    expect([first, second].map((entry) => (entry as { requestId: string }).requestId)).toEqual([
      `${requestId}.1`,
      `${requestId}.2`,
    ])
    expect(failed.error?.data?.['requestId']).toBe(`${requestId}.2`)
    expect(started.meter.counted.map((line) => line.replace(/^\S+ /, ''))).toEqual([
      'testnet eth_gasPrice succeeded',
      'testnet other method_not_found',
    ])
    expect(JSON.stringify(started.entries)).not.toContain(key)
  })

  test('is charged for its requests like POSTs', async () => {
    const socket = await openSocket(started.addApp({ limits: { ...noLimits, perDay: 2 } }).path)
    socket.send(batch('eth_gasPrice', 'eth_gasPrice', 'eth_gasPrice'))
    expect(reasons(await socket.next())).toEqual(['eth_gasPrice', 'eth_gasPrice', 'quota_exceeded'])
    expect(await socket.call('eth_gasPrice')).toMatchObject({ id: 1, error: { data: { reason: 'quota_exceeded' } } })
  })

  test("responds to viem's keep-alive without a node and without a charge, but only now and then", async () => {
    const socket = await openSocket(started.addApp({ limits: { ...noLimits, perDay: 1 } }).path)
    const keepAlive = JSON.stringify({ jsonrpc: '2.0', id: null, method: 'net_version', params: [] })
    const sent = started.upstream.bodies.length
    started.meter.counted.length = 0
    started.entries.length = 0
    socket.send(keepAlive)
    expect(await socket.next()).toEqual({ jsonrpc: '2.0', id: null, result: '31337' })
    expect([started.upstream.bodies.length, started.meter.counted]).toEqual([sent, []])
    expect(started.entries).toMatchObject([{ event: 'request', method: 'net_version', calls: 1, status: 200 }])
    socket.send(keepAlive)
    expect(await socket.next()).toEqual({ jsonrpc: '2.0', id: null, result: 'net_version' })
    expect(await socket.call('eth_gasPrice')).toMatchObject({ error: { data: { reason: 'quota_exceeded' } } })
  })

  test.each([20_001, 5_000_000])('a message that is too large closes it with 1009: %i bytes', async (bytes) => {
    const socket = await openSocket(started.addApp().path)
    started.entries.length = 0
    socket.send('x'.repeat(bytes))
    expect((await socket.closed).code).toBe(1009)
    await expect.poll(() => started.entries).toMatchObject([{ reason: 'message_too_big' }])
  })

  test('handles so many messages at a time, and the others later', async () => {
    const own = await openTenants({ webSocket: { maxInFlight: 2 } })
    const waiting: (() => void)[] = []
    own.upstream.behave = (seen, response) => void waiting.push(() => void response.end(result(seen, '1')))
    const socket = await openSocket(own.addApp().path)
    for (let id = 1; id <= 5; id += 1) socket.send(call('eth_call', `["${id}"]`, id))
    await expect.poll(() => waiting.length).toBe(2)
    waiting[0]?.()
    expect(await socket.next()).toMatchObject({ id: 1 })
    await expect.poll(() => waiting.length).toBe(3)
    for (let id = 1; id < 5; id += 1) {
      await expect.poll(() => waiting.length).toBeGreaterThan(id)
      waiting[id]?.()
    }
    const ids = [await socket.next(), await socket.next(), await socket.next(), await socket.next()]
    expect(ids.map((message) => (message as SocketMessage).id)).toEqual([2, 3, 4, 5])
  })

  test('a caller that disconnects stops its reads', async () => {
    const socket = await openSocket(started.addApp().path)
    const cut = started.upstream.cut()
    started.upstream.behave = () => undefined
    socket.send(call('eth_call', '["cut"]'))
    await expect.poll(() => started.upstream.bodies.at(-1)).toContain('cut')
    started.entries.length = 0
    socket.ws.terminate()
    await expect.poll(() => started.upstream.cut()).toBe(cut + 1)
    await expect.poll(() => started.entries.map(({ event }) => event)).toEqual(['disconnected', 'webSocket'])
  })
})
