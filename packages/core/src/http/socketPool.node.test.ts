import net from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSocketPool } from './socketPool.node.ts'
import type { PooledSocket, SocketPool } from './socketPool.node.ts'

let server: net.Server
let accepted: net.Socket[]
let pool: SocketPool

beforeEach(async () => {
  accepted = []
  server = net.createServer((socket) => {
    socket.on('error', () => {})
    accepted.push(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  pool = createSocketPool(() => net.connect(port, '127.0.0.1'))
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})

afterEach(() => {
  vi.useRealTimers()
  pool.close()
  for (const socket of accepted) socket.destroy()
  server.close()
})

const take = async (): Promise<PooledSocket> => {
  const socket = pool.acquire()
  if (socket.connecting) await new Promise((resolve) => socket.once('connect', resolve))
  return socket
}

/** Does what the HTTP client and `node:http` do at the end of a response. */
const giveBack = (socket: PooledSocket): void => {
  socket.idleBytesRead = socket.bytesRead
  socket.emit('free')
}

/** Waits until pending socket events have been emitted. */
const flushEvents = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

describe('createSocketPool', () => {
  test('returns the connection that was used last', async () => {
    const [first, second] = [await take(), await take()]
    expect(second).not.toBe(first)
    giveBack(second)
    giveBack(first)
    expect(await take()).toBe(first)
    expect(await take()).toBe(second)
    expect(await take()).not.toBe(first)
  })

  test('never returns a connection that is in use', async () => {
    const first = await take()
    expect(await take()).not.toBe(first)
  })

  test('returns no connection that was idle for 4 seconds', async () => {
    const young = await take()
    giveBack(young)
    vi.advanceTimersByTime(3_900)
    expect(await take()).toBe(young)
    giveBack(young)
    vi.advanceTimersByTime(4_000)
    expect(await take()).not.toBe(young)
    expect(young.destroyed).toBe(true)
  })

  test('closes idle connections in time without further requests, and then has no timer', async () => {
    const [first, second] = [await take(), await take()]
    giveBack(first)
    vi.advanceTimersByTime(2_000)
    giveBack(second)
    vi.advanceTimersByTime(2_500)
    expect([first.destroyed, second.destroyed]).toEqual([true, false])
    vi.advanceTimersByTime(3_000)
    expect(second.destroyed).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('returns no connection that its server will close within a second', async () => {
    const socket = await take()
    socket.keepAliveMs = 3_000
    giveBack(socket)
    vi.advanceTimersByTime(1_900)
    expect(await take()).toBe(socket)
    giveBack(socket)
    vi.advanceTimersByTime(2_000)
    expect(await take()).not.toBe(socket)
  })

  test('closes a connection that its server keeps alive for a second or less', async () => {
    const socket = await take()
    socket.keepAliveMs = 1_000
    giveBack(socket)
    expect(socket.destroyed).toBe(true)
  })

  test('returns no connection that received bytes while it was idle', async () => {
    const socket = await take()
    socket.resume()
    giveBack(socket)
    accepted[0]?.write('HTTP/1.1 408 Request Timeout\r\n\r\n')
    await vi.waitFor(() => expect(socket.bytesRead).toBeGreaterThan(0), { timeout: 30_000 })
    expect(await take()).not.toBe(socket)
    expect(socket.destroyed).toBe(true)
  })

  test.each([
    ['ends', (socket: net.Socket) => socket.end()],
    ['resets', (socket: net.Socket) => socket.resetAndDestroy()],
  ])('returns no connection that the server %s, and handles its error', async (_, end) => {
    const socket = await take()
    socket.resume()
    giveBack(socket)
    end(accepted[0] as net.Socket)
    await vi.waitFor(() => expect(socket.destroyed).toBe(true), { timeout: 30_000 })
    expect(await take()).not.toBe(socket)
  })

  test('closes a connection whose response was not read to its end', async () => {
    const socket = await take()
    socket.emit('free')
    expect(socket.destroyed).toBe(true)
  })

  test('closes idle connections but not those in use', async () => {
    const [idle, used] = [await take(), await take()]
    giveBack(idle)
    pool.closeIdle()
    expect([idle.destroyed, used.destroyed]).toEqual([true, false])
    giveBack(used)
    expect(await take()).toBe(used)
  })

  test('closes idle connections when it closes, and others when they are returned', async () => {
    const [idle, used] = [await take(), await take()]
    giveBack(idle)
    pool.close()
    expect([idle.destroyed, used.destroyed]).toEqual([true, false])
    giveBack(used)
    expect(used.destroyed).toBe(true)
    await flushEvents()
    expect(vi.getTimerCount()).toBe(0)
  })
})
