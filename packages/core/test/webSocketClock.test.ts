import { createTransport, webSocket } from '@keyrail/core'
import type { WebSocketOptions } from '@keyrail/core'
import { getSocket } from '@keyrail/core/internal'
import type { RpcSocket } from '@keyrail/core/internal'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WebSocket as NodeWebSocket } from 'ws'
import { echoMethod, startSocketServer } from './socketServer.ts'
import type { SocketServer } from './socketServer.ts'
import { until, useFakeClock } from './useFakeClock.ts'
import { getFailure } from './getFailure.ts'

const server: SocketServer = await startSocketServer()
const opened: { readonly close: () => void }[] = []
beforeEach(() => {
  server.reset()
  useFakeClock()
})
afterEach(() => {
  for (const transport of opened.splice(0)) transport.close()
  vi.restoreAllMocks()
  vi.useRealTimers()
})
afterAll(() => server.close())

const create = (more: WebSocketOptions = {}, url = server.url): ReturnType<typeof createTransport> => {
  const feature = webSocket({ requests: true, WebSocket: NodeWebSocket, ...more })
  const transport = createTransport({ url, retry: false, timeoutMs: 600_000, webSocket: feature })
  opened.push(transport)
  return transport
}

test('a connection that is silent for 30 s is dead, and its calls fail', async () => {
  server.script = () => {}
  const call = getFailure(create().request({ method: 'eth_gasPrice' }))
  await until(() => server.calls.length === 1)
  await vi.advanceTimersByTimeAsync(24_999)
  expect(server.calls).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  await until(() => server.calls.length === 2)
  expect(server.calls[1]).toMatchObject({ method: 'eth_chainId', params: [] })
  await vi.advanceTimersByTimeAsync(5_000)
  expect(await call).toMatchObject({ kind: 'network', retryable: true })
  expect((await call).message).toContain('the connection is dead')
  await until(() => server.open() === 0)
})

test('a subscription without notifications stays, because the server responds to heartbeats', async () => {
  const ends: unknown[] = []
  const socket = getSocket(create()) as RpcSocket
  await socket.subscribe(['newHeads'], { onNotification: () => {}, onEnd: (failure) => ends.push(failure) })
  for (let beat = 1; beat <= 5; beat++) {
    const heard = server.calls.length
    for (let second = 0; second < 31 && server.calls.length === heard; second++) {
      await vi.advanceTimersByTimeAsync(1_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(server.calls).toHaveLength(1 + beat)
  }
  expect(ends).toEqual([])
  expect(server.handshakes).toHaveLength(1)
})

test('a server that does not respond to the handshake, and not to a POST, fails after 9 s', async () => {
  const silent = createServer()
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  try {
    const transport = create({}, `http://127.0.0.1:${(silent.address() as AddressInfo).port}`)
    const call = getFailure(transport.request({ method: 'eth_sendRawTransaction', params: ['0x00'] }))
    await new Promise((resolve) => silent.once('connection', resolve))
    await vi.advanceTimersByTimeAsync(9_000)
    // It was not sent, so it may be sent again.
    expect(await call).toMatchObject({ kind: 'network', retryable: true })
  } finally {
    silent.close()
  }
})

test('a rejected handshake that the platform does not report is detected after 5 s', async () => {
  const NeverOpen = class {
    close(): void {}
  }
  const error = { code: -32000, message: 'The key is revoked.', data: { reason: 'key_revoked' } }
  server.rejection = { status: 401, body: JSON.stringify({ jsonrpc: '2.0', id: null, error }) }
  const call = getFailure(create({ WebSocket: NeverOpen }).request({ method: 'eth_gasPrice' }))
  await vi.advanceTimersByTimeAsync(5_000)
  expect(await call).toMatchObject({ kind: 'auth', status: 401, rpcError: error })
})

/** Fails to connect until the wait is as long as it gets, and returns the waits. */
const collectWaits = async (request: ReturnType<typeof create>['request'], times: number): Promise<number[]> => {
  const waits: number[] = []
  for (let at = 0; at < times; at++) {
    await getFailure(request({ method: 'eth_gasPrice' }))
    const { retryAfterMs = 0 } = await getFailure(request({ method: 'eth_gasPrice' }))
    waits.push(retryAfterMs)
    await vi.advanceTimersByTimeAsync(retryAfterMs)
  }
  return waits
}

test('after a failure, calls fail at once until the next attempt, and say how long that is', async () => {
  server.rejection = { status: 503, body: 'overloaded' }
  const { request } = create()
  await getFailure(request({ method: 'eth_gasPrice' }))
  const failures = await Promise.all([1, 2, 3].map(() => getFailure(request({ method: 'eth_gasPrice' }))))
  for (const { kind, retryAfterMs = 0 } of failures) {
    expect(kind).toBe('unavailable')
    expect(retryAfterMs).toBeLessThanOrEqual(250)
  }
  expect(server.handshakes).toHaveLength(1)
})

test('the wait doubles up to 10 s, is random, and starts over after a stable minute', async () => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(1)
  server.rejection = { status: 503, body: '' }
  const { request } = create({ heartbeatMs: 600_000 })
  expect(await collectWaits(request, 8)).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000])
  random.mockReturnValue(0.5)
  expect(await collectWaits(request, 1)).toEqual([5_000])
  random.mockReturnValue(1)

  server.rejection = undefined
  const breakAfter = async (ms: number): Promise<number[]> => {
    server.script = echoMethod
    await request({ method: 'eth_gasPrice' })
    await vi.advanceTimersByTimeAsync(ms)
    server.script = ({ tcp }) => tcp.destroy()
    return collectWaits(request, 1)
  }
  expect(await breakAfter(59_000)).toEqual([10_000])
  expect(await breakAfter(60_000)).toEqual([250])
})

test('no timer is left after an unused connection is closed', async () => {
  const { request } = create()
  await request({ method: 'eth_gasPrice' })
  await vi.advanceTimersByTimeAsync(25_000)
  await until(() => server.open() === 0)
  // The one of ws, for the response to the close frame.
  expect(vi.getTimerCount()).toBeLessThanOrEqual(1)
  expect(server.calls).toHaveLength(1)
})
