import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCertificate } from '@keyrail/core/test/createCertificate.ts'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { TestOptions } from '../createTestGateway.ts'
import { result } from '../fakeUpstream.ts'
import { openRaw } from '../rawConnection.ts'
import type { RawConnection } from '../rawConnection.ts'
import { call, openTenants } from '../tenants/startTenants.ts'
import type { StartedTenants } from '../tenants/startTenants.ts'
import { createFakeHub } from './createFakeHub.ts'
import type { FakeHub } from './createFakeHub.ts'
import { openSocket, rejectSocket } from './openSocket.ts'
import type { OpenSocket } from './openSocket.ts'

const start = async (options: Partial<TestOptions> = {}): Promise<StartedTenants & { readonly hub: FakeHub }> => {
  const hub = createFakeHub()
  const started = await openTenants({ ...options, createHub: () => hub })
  return { ...started, hub }
}
const getClosed = ({ entries }: StartedTenants): readonly unknown[] =>
  entries.filter((entry) => entry.event === 'webSocket' && entry.state === 'closed')

describe('a gateway that closes', () => {
  test('closes WebSockets with 1012 once their requests are done', async () => {
    const started = await start()
    const [idle, busy] = [await openSocket(started.addApp().path), await openSocket(started.addApp().path)]
    let release = (): void => {}
    started.upstream.behave = (seen, response) => {
      release = () => void response.end(result(seen, '1'))
      return undefined
    }
    busy.send(call('eth_call'))
    await expect.poll(() => started.upstream.bodies.length).toBe(1)
    const closing = started.gateway.close()
    expect(await idle.closed).toEqual({ code: 1012, reason: 'service restart' })
    expect(busy.ws.readyState).toBe(1)
    release()
    expect(await busy.next()).toMatchObject({ result: 1 })
    expect(await busy.closed).toEqual({ code: 1012, reason: 'service restart' })
    await closing
    expect(getClosed(started)).toMatchObject([{ reason: 'restart' }, { reason: 'restart' }])
    expect(started.entries.at(-1)).toEqual({ event: 'closed', cutOff: 0 })
  })

  test('cuts off those that do not respond, and counts their requests', async () => {
    const started = await start()
    const socket = await openSocket(started.addApp().path)
    started.upstream.behave = () => undefined
    socket.send(call('eth_call'))
    await expect.poll(() => started.upstream.bodies.length).toBe(1)
    await started.gateway.close({ graceMs: 300 })
    expect((await socket.closed).code).toBe(1006)
    expect(started.entries.at(-1)).toEqual({ event: 'closed', cutOff: 1 })
  })

  test('closes many WebSockets a few at a time', async () => {
    const started = await start()
    const { path } = started.addApp()
    const sockets = await Promise.all(Array.from({ length: 60 }, () => openSocket(path)))
    const isOpen = ({ ws }: OpenSocket): boolean => ws.readyState === 1
    const before = performance.now()
    started.gateway.prepareToClose({ windowMs: 1_000 })
    await Promise.race(sockets.map(({ closed }) => closed))
    const open = sockets.filter(isOpen).length
    expect(open).toBeLessThan(60)
    // Twice as many as are closed evenly by then, and one turn.
    expect(60 - open).toBeLessThanOrEqual(20 + (2 * 60 * (performance.now() - before)) / 1_000)
    await expect.poll(() => sockets.filter(isOpen).length).toBe(0)
    // Until `close`, new ones are accepted, and closed again.
    expect(await (await openSocket(path)).closed).toEqual({ code: 1012, reason: 'service restart' })
    const closing = started.gateway.close()
    await closing
  })

  test('rejects new WebSockets', async () => {
    const started = await start()
    const { path } = started.addApp()
    const connection = await openRaw(started.port)
    connection.send('GET /healthz HTTP/1.1\r\n\r\n')
    await connection.next()
    const closing = started.gateway.close()
    connection.send(
      `GET ${new URL(path).pathname} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    )
    expect((await connection.next()).status).toBe(503)
    await closing
  })
})

describe('a caller that reads nothing', () => {
  const openPaused = async (started: StartedTenants): Promise<OpenSocket> => {
    const socket = await openSocket(started.addApp().path)
    await socket.call('eth_subscribe', ['newHeads'])
    socket.ws.pause()
    return socket
  }

  test('is cut off when it is too far behind with its notifications', async () => {
    const started = await start({ webSocket: { maxBufferedBytes: 100_000 } })
    await openPaused(started)
    const text = JSON.stringify('x'.repeat(100_000))
    for (let count = 0; count < 200 && started.hub.subscribers() > 0; count += 1) {
      started.hub.notify(text)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await expect.poll(() => getClosed(started)).toMatchObject([{ reason: 'slow_reader', code: 1006 }])
    expect(started.hub.subscribers()).toBe(0)
  })

  test('may get a lot at once', async () => {
    const started = await start({ webSocket: { maxBufferedBytes: 100_000 } })
    const socket = await openSocket(started.addApp().path)
    await socket.call('eth_subscribe', ['newHeads'])
    started.hub.notify(JSON.stringify('x'.repeat(1_000)), 20_000)
    await expect.poll(() => socket.unread().length).toBe(20_000)
    expect(getClosed(started)).toEqual([])
  })

  test('is cut off when it does not respond to a ping, although nothing is left to send', async () => {
    const started = await start({ webSocket: { pingMs: 1_000 } })
    await openPaused(started)
    const [alive] = [await openSocket(started.addApp().path)]
    await expect.poll(() => getClosed(started)).toMatchObject([{ reason: 'no_pong' }])
    expect(await alive.call('eth_gasPrice')).toMatchObject({ result: '0x1' })
  })

  test('is not read from while its responses wait, and its large responses do not count as notifications', async () => {
    const started = await start({ webSocket: { maxInFlight: 2, maxBufferedBytes: 1_000 } })
    const large = JSON.stringify('x'.repeat(5_000_000))
    started.upstream.behave = (seen) => result(seen, large)
    const socket = await openSocket(started.addApp().path)
    socket.ws.pause()
    for (let id = 1; id <= 6; id += 1) socket.send(call('eth_call', `["${id}"]`, id))
    await expect.poll(() => started.upstream.bodies.length).toBe(2)
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    expect(started.upstream.bodies.length).toBeLessThan(6)
    socket.ws.resume()
    await expect.poll(() => socket.unread().length).toBe(6)
  })
})

test('a caller that does not read a large response in time is cut off', async () => {
  const started = await start({ webSocket: { maxInFlight: 1 } })
  started.upstream.behave = (seen) => result(seen, JSON.stringify('x'.repeat(20_000_000)))
  const socket = await openSocket(started.addApp().path)
  socket.ws.pause()
  // Now the other requests wait, and nothing is read from the caller.
  for (let id = 1; id <= 3; id += 1) socket.send(call('eth_call', `["${id}"]`, id))
  await expect.poll(() => started.entries.some(({ event }) => event === 'request')).toBe(true)
  const now = performance.now()
  const clock = vi.spyOn(performance, 'now')
  onTestFinished(() => clock.mockRestore())
  // As for POSTs: 30 seconds, and one for each 20 kB.
  clock.mockReturnValue(now + 1_029_000)
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  expect(getClosed(started)).toEqual([])
  clock.mockReturnValue(now + 1_031_000)
  await expect.poll(() => getClosed(started)).toMatchObject([{ reason: 'slow_reader' }])
})

describe('a caller that sends something that is not a WebSocket frame', () => {
  const upgrade = async (started: StartedTenants): Promise<RawConnection> => {
    const connection = await openRaw(started.port)
    connection.send(
      `GET ${new URL(started.addApp().path).pathname} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    )
    expect((await connection.next()).status).toBe(101)
    return connection
  }

  test.each([
    ['random bytes', Buffer.from('hello, this is no frame')],
    ['a frame without a mask', Buffer.from([0x81, 0x01, 0x41])],
    ['a text that is no UTF-8', Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0xff])],
  ])('%s: it is closed', async (_, bytes) => {
    const started = await start()
    const connection = await upgrade(started)
    connection.send(bytes)
    await expect.poll(() => getClosed(started)).toMatchObject([{ reason: 'protocol_error' }])
    connection.destroy()
  })

  test('that resets its connection ends nothing else', async () => {
    const started = await start()
    const connection = await upgrade(started)
    connection.reset()
    await expect.poll(() => getClosed(started)).toMatchObject([{ reason: 'client', code: 1006 }])
    expect(await (await openSocket(started.addApp().path)).call('eth_gasPrice')).toMatchObject({ result: '0x1' })
  })
})

test('WebSockets work with TLS', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-tls-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const { key, cert } = createCertificate(folder, 'localhost')
  const started = await start({ tls: { key, cert } })
  const { path } = started.addApp()
  const socket = await openSocket(path, { rejectUnauthorized: false })
  onTestFinished(() => socket.ws.terminate())
  expect(path).toMatch(/^https:/)
  await socket.call('eth_subscribe', ['newHeads'])
  started.hub.notify('1')
  expect(await socket.next()).toMatchObject({ method: 'eth_subscription' })
  const rejected = await rejectSocket(`${started.url}/testnet/none`, { rejectUnauthorized: false })
  expect(rejected.reason).toBe('key_unknown')
})
