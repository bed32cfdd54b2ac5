import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { allBufferedBytes, getBufferedByKind } from '../../src/lib/memoryBudget.ts'
import { getArrayBufferBytes } from '../arrayBuffers.ts'
import { until } from '../controlTime.ts'
import type { TestOptions } from '../createTestGateway.ts'
import { result } from '../fakeUpstream.ts'
import { chainIds } from '../startGateway.ts'
import { call, noLimits, openTenants } from '../tenants/startTenants.ts'
import type { StartedTenants } from '../tenants/startTenants.ts'
import { createFakeHub } from './createFakeHub.ts'
import type { FakeHub } from './createFakeHub.ts'
import { openSocket } from './openSocket.ts'
import type { SocketMessage } from './openSocket.ts'

const start = async (options: Partial<TestOptions> = {}): Promise<{ started: StartedTenants; hub: FakeHub }> => {
  const hub = createFakeHub()
  return { started: await openTenants({ ...options, createHub: () => hub }), hub }
}

/** A connection that sends frames byte by byte, which no library does. */
const openFrames = async (
  url: string,
): Promise<{ socket: Socket; isClosed: () => boolean; received: () => string }> => {
  const { port, pathname } = new URL(url)
  const socket = connect({ port: Number(port), host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  let isClosed = false
  socket.on('close', () => (isClosed = true))
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${'a'.repeat(22)}==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  )
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
  await once(socket, 'data')
  return { socket, isClosed: () => isClosed, received: () => received }
}

/** A frame with a mask of zeros. */
const toFrame = (opcode: number, payload: Buffer, isFinal = true): Buffer => {
  const { length } = payload
  const head = Buffer.from([
    (isFinal ? 0x80 : 0) | opcode,
    0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127),
  ])
  const extended = Buffer.alloc(length < 126 ? 0 : length < 65_536 ? 2 : 8)
  if (extended.length === 2) extended.writeUInt16BE(length)
  if (extended.length === 8) extended.writeBigUInt64BE(BigInt(length))
  return Buffer.concat([head, extended, Buffer.alloc(4), payload])
}
const text = 1
const continuation = 0
const ping = 9
const pong = 10

describe('messages that do not arrive completely', () => {
  test('count from their first byte, and stay within maxBufferedBytes', async () => {
    const { started } = await start({ bounds: { maxBufferedBytes: 1_000_000 } })
    const { path } = started.addApp()
    const unfinished = toFrame(text, Buffer.alloc(100_000, ' ')).subarray(0, 90_000)
    const sockets = await Promise.all(Array.from({ length: 12 }, () => openFrames(path)))
    for (const { socket } of sockets) socket.write(unfinished)
    await until(() => sockets.filter(({ received }) => received().includes('upstream_busy')).length >= 6)
    expect(getBufferedByKind().messages).toBeGreaterThan(300_000)
    expect(allBufferedBytes()).toBeLessThanOrEqual(500_000)
    for (const { socket } of sockets) socket.destroy()
    await until(() => allBufferedBytes() === 0)
  })

  test('in fragments of one byte keep no more than their bytes and a little for each', async () => {
    const { started } = await start()
    const opened = await openFrames(started.addApp().path)
    const padding = Buffer.concat(Array.from({ length: 100 }, () => toFrame(pong, Buffer.alloc(125))))
    const before = getArrayBufferBytes()
    opened.socket.write(toFrame(text, Buffer.from('['), false))
    for (let count = 0; count < 200; count += 1)
      opened.socket.write(Buffer.concat([toFrame(continuation, Buffer.from(' '), false), padding]))
    opened.socket.write(toFrame(ping, Buffer.from('last')))
    await until(() => opened.received().includes('last'))
    expect(getBufferedByKind().messages).toBeGreaterThanOrEqual(201 * 257)
    expect(getBufferedByKind().messages).toBeLessThan(1.5 * 201 * 257)
    // Each fragment came with 13 kB of pongs.
    await until(() => getArrayBufferBytes() - before < 1_000_000)
    opened.socket.write(toFrame(continuation, Buffer.from(`${call('eth_gasPrice')}]`)))
    await until(() => opened.received().includes('"result":"0x1"'))
    expect(getBufferedByKind().messages).toBe(0)
  })

  test('in 14,000 such fragments close the connection', async () => {
    const { started } = await start({ bounds: { maxBodyBytes: 100_000 } })
    const opened = await openFrames(started.addApp().path)
    opened.socket.write(toFrame(text, Buffer.from('['), false))
    opened.socket.write(Buffer.concat(Array(14_000).fill(toFrame(continuation, Buffer.from(' '), false)) as Buffer[]))
    await until(() => opened.received().includes('message_too_big'))
    await until(() => getBufferedByKind().messages === 0)
  })

  test('close the connection after requestTimeoutMs, while an idle one stays open', async () => {
    const { started } = await start({ bounds: { requestTimeoutMs: 1_000, headersTimeoutMs: 1_000 } })
    const { path } = started.addApp()
    const [late, idle, split] = [await openFrames(path), await openSocket(path), await openFrames(path)]
    // A pong in two parts, which is complete.
    const whole = toFrame(pong, Buffer.alloc(10))
    split.socket.write(whole.subarray(0, 5))
    late.socket.write(toFrame(text, Buffer.from('[1,')).subarray(0, 7))
    await until(() => getBufferedByKind().messages > 0)
    split.socket.write(whole.subarray(5))
    await until(() => late.received().includes('request_timeout'))
    expect(await idle.call('eth_gasPrice')).toMatchObject({ result: '0x1' })
    split.socket.write(toFrame(text, Buffer.from(call('eth_gasPrice'))))
    await until(() => split.received().includes('"result":"0x1"'))
  })
})

test('notifications that wait for the response to a batch are limited by their bytes', async () => {
  const { started, hub } = await start({ webSocket: { maxBufferedBytes: 1_000_000 } })
  let respond = (): void => {}
  started.upstream.behave = (each, response) => {
    respond = () => void response.end(result(each, '"0x1"'))
    return undefined
  }
  const socket = await openSocket(started.addApp().path)
  socket.ws.pause()
  const subscribe = call('eth_subscribe', '["newHeads"]')
  socket.send(`[${[...Array<string>(50).fill(subscribe), call('eth_gasPrice')].join()}]`)
  await until(() => hub.counts().newHeads === 50)
  const header = `"${'a'.repeat(10_000)}"`
  hub.notify(header)
  expect(getBufferedByKind().notifications).toBeGreaterThan(500_000)
  hub.notify(header)
  socket.ws.resume()
  expect(await socket.closed).toEqual({ code: 1008, reason: 'too_many_notifications' })
  await until(() => getBufferedByKind().notifications === 0)
  respond()
})

test('notifications that a caller does not read count in the memory budget', async () => {
  const { started, hub } = await start({ bounds: { maxBufferedBytes: 40_000_000 } })
  const { path } = started.addApp()
  const sockets = await Promise.all(Array.from({ length: 10 }, () => openSocket(path)))
  for (const socket of sockets) {
    await socket.call('eth_subscribe', ['newHeads'])
    socket.ws.pause()
  }
  let most = 0
  for (let block = 0; block < 60; block += 1) {
    hub.notify(`"${'a'.repeat(200_000)}"`)
    most = Math.max(most, getBufferedByKind().notifications)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(most).toBeGreaterThan(10_000_000)
  expect(most).toBeLessThanOrEqual(20_000_000)
  for (const socket of sockets) socket.ws.terminate()
  await until(() => allBufferedBytes() === 0)
})

test('a message whose calls are not granted gets an error for each id, and one for all calls without an id', async () => {
  const { started } = await start()
  const { path } = started.addApp({ limits: { ...noLimits, perSecond: 1, burst: 1 } })
  const socket = await openSocket(path)
  socket.send(`[${[...Array<number>(998).fill(1), call('eth_gasPrice').replace('"id":1', '"id":7')].join()}]`)
  const errors = (await socket.next()) as readonly SocketMessage[]
  expect(errors.map(({ id, error }) => [id, error?.data?.['reason']])).toEqual([
    [null, 'rate_limited'],
    [7, 'rate_limited'],
  ])
})

test('whole pending transactions cost one unit each, other notifications none', async () => {
  const { started, hub } = await start()
  const { path } = started.addApp({ appId: 'app_pending', limits: { ...noLimits, perDay: 100 } })
  const socket = await openSocket(path)
  await socket.call('eth_subscribe', ['newHeads'])
  hub.notify('"0x1"', 20)
  hub.notifyFull('{"hash":"0x1"}', 3)
  await until(() => started.usageLimits.used('app:app_pending') > 1)
  // One is for `eth_subscribe`.
  expect(started.usageLimits.used('app:app_pending')).toBe(4)
})

test('a reload changes the bounds of open WebSockets', async () => {
  const { started, hub } = await start({ bounds: { maxBufferedBytes: 100_000 } })
  const { path } = started.addApp()
  const [reader, writer] = [await openSocket(path), await openFrames(path)]
  await reader.call('eth_subscribe', ['newHeads'])
  await started.gateway.reload({
    networks: { testnet: { chainId: chainIds.testnet, upstreams: [{ url: started.upstream.url }] } },
    bounds: { maxBufferedBytes: 1_000_000 },
  })
  hub.notify(`"${'a'.repeat(90_000)}"`)
  expect(await reader.next()).toMatchObject({ method: 'eth_subscription' })
  writer.socket.write(toFrame(text, Buffer.alloc(100_000, ' ')).subarray(0, 90_000))
  await until(() => writer.isClosed() || getBufferedByKind().messages > 89_000)
  expect(writer.isClosed()).toBe(false)
  await started.gateway.reload({
    networks: { testnet: { chainId: chainIds.testnet, upstreams: [{ url: started.upstream.url }] } },
    bounds: { maxBufferedBytes: 100_000 },
  })
  hub.notify(`"${'a'.repeat(90_000)}"`)
  expect(await reader.closed).toMatchObject({ code: 1006 })
})
