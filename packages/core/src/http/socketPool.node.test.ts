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
  const socket = pool.take()
  if (socket.connecting) await new Promise((resolve) => socket.once('connect', resolve))
  return socket
}

/** What the carrier and `node:http` do when an answer has ended. */
const giveBack = (socket: PooledSocket): void => {
  socket.keptBytesRead = socket.bytesRead
  socket.emit('free')
}

/** Until the sockets have done what they are about to do. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

describe('createSocketPool', () => {
  test('gives the connection again that came back last', async () => {
    const [first, second] = [await take(), await take()]
    expect(second).not.toBe(first)
    giveBack(second)
    giveBack(first)
    expect(await take()).toBe(first)
    expect(await take()).toBe(second)
    expect(await take()).not.toBe(first)
  })

  test('never gives one that is in use', async () => {
    const first = await take()
    expect(await take()).not.toBe(first)
  })

  test('gives no connection that was idle for 4 seconds', async () => {
    const young = await take()
    giveBack(young)
    vi.advanceTimersByTime(3_900)
    expect(await take()).toBe(young)
    giveBack(young)
    vi.advanceTimersByTime(4_000)
    expect(await take()).not.toBe(young)
    expect(young.destroyed).toBe(true)
  })

  test('closes idle connections in time though nobody asks, and then leaves no timer', async () => {
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

  test('gives no connection that its server is about to close, by a second', async () => {
    const socket = await take()
    socket.keptMs = 3_000
    giveBack(socket)
    vi.advanceTimersByTime(1_900)
    expect(await take()).toBe(socket)
    giveBack(socket)
    vi.advanceTimersByTime(2_000)
    expect(await take()).not.toBe(socket)
  })

  test('keeps no connection that its server keeps for a second or less', async () => {
    const socket = await take()
    socket.keptMs = 1_000
    giveBack(socket)
    expect(socket.destroyed).toBe(true)
  })

  test('gives no connection on which bytes came that nobody asked for', async () => {
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
  ])('gives no connection that the server %s, and hears its error', async (_, end) => {
    const socket = await take()
    socket.resume()
    giveBack(socket)
    end(accepted[0] as net.Socket)
    await vi.waitFor(() => expect(socket.destroyed).toBe(true), { timeout: 30_000 })
    expect(await take()).not.toBe(socket)
  })

  test('keeps none whose answer was not read to its end', async () => {
    const socket = await take()
    socket.emit('free')
    expect(socket.destroyed).toBe(true)
  })

  test('drops the idle ones and keeps those in use', async () => {
    const [idle, used] = [await take(), await take()]
    giveBack(idle)
    pool.drop()
    expect([idle.destroyed, used.destroyed]).toEqual([true, false])
    giveBack(used)
    expect(await take()).toBe(used)
  })

  test('closes the idle ones with itself, and what comes back later', async () => {
    const [idle, used] = [await take(), await take()]
    giveBack(idle)
    pool.close()
    expect([idle.destroyed, used.destroyed]).toEqual([true, false])
    giveBack(used)
    expect(used.destroyed).toBe(true)
    await settled()
    expect(vi.getTimerCount()).toBe(0)
  })
})
