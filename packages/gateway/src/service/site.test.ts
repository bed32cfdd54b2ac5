import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { createSite } from './site.ts'
import type { ControlHandler } from './site.ts'

const toStop: (() => unknown)[] = []
afterEach(() => {
  vi.useRealTimers()
  for (const stop of toStop.splice(0)) stop()
})

/** Starts a site that trusts X-Forwarded-For. */
const start = async (control: ControlHandler, responseTimeoutMs = 200) => {
  const publicUrl = 'http://127.0.0.1'
  const site = createSite({
    publicUrl,
    networksUrl: publicUrl,
    control,
    clientIp: (_, forwarded) => forwarded,
    responseTimeoutMs,
    log: () => {},
  })
  const server = createServer((request, response) => void site(request, response, 'id'))
  server.keepAliveTimeout = 60_000
  let closedCount = 0
  server.on('connection', (socket) => socket.on('close', () => (closedCount += 1)))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  toStop.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, closedCount: () => closedCount }
}
const sendOn = (port: number, ip = '203.0.113.9'): Socket => {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(`GET /api/account HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: ${ip}\r\n\r\n`)
  toStop.push(() => socket.destroy())
  return socket
}

/** Counts the bytes received until the site closes the connection. */
const countBytes = async (socket: Socket): Promise<number> => {
  let bytes = 0
  socket.on('data', (chunk: Buffer) => (bytes += chunk.length))
  await once(socket, 'close')
  return bytes
}

test('a response that its client does not receive in time closes the connection', async () => {
  const never = await start({ fetch: () => new Promise(() => {}) })
  expect(await countBytes(sendOn(never.port))).toBe(0)
  const large = await start({ fetch: () => new Response('x'.repeat(30_000_000)) })
  const idle = sendOn(large.port)
  await expect.poll(large.closedCount).toBe(1)
  expect(await countBytes(idle)).toBeLessThan(30_000_000)
})

test('a received response does not close its connection', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { port, closedCount } = await start({ fetch: () => new Response('good') })
  const socket = sendOn(port)
  const [first] = (await once(socket, 'data')) as [Buffer]
  expect(String(first)).toMatch(/^HTTP\/1\.1 200 [^]*good/)
  // The site reads the next request after it has closed the response, so time passes only between requests.
  for (let request = 0; request < 3; request += 1) {
    vi.advanceTimersByTime(150)
    socket.write('GET /api/account HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    const [next] = (await once(socket, 'data')) as [Buffer]
    expect(String(next)).toMatch(/^HTTP\/1\.1 200 [^]*good/)
  }
  expect(closedCount()).toBe(0)
})

test('responses in flight of one IP address leave room for others', async () => {
  const held: ((response: Response) => void)[] = []
  const { port } = await start({ fetch: () => new Promise((resolve) => held.push(resolve)) }, 60_000)
  const getStatus = async (ip: string): Promise<string> => {
    const socket = sendOn(port, ip)
    const [first] = (await once(socket, 'data')) as [Buffer]
    return String(first).slice(9, 12)
  }
  for (let count = 0; count < 500; count += 1) sendOn(port, '203.0.113.1')
  await expect.poll(() => held.length).toBe(500)
  expect(await getStatus('203.0.113.1')).toBe('429')
  const other = getStatus('203.0.113.2')
  await expect.poll(() => held.length).toBe(501)
  for (const respond of held.splice(0)) respond(new Response('good'))
  expect(await other).toBe('200')
  const again = getStatus('203.0.113.1')
  await expect.poll(() => held.length).toBe(1)
  held[0]?.(new Response('good'))
  expect(await again).toBe('200')
})
