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

/** A site on a port of its own, whose callers are whom they say they are. */
const start = async (control: ControlHandler, answerWithinMs = 200) => {
  const publicUrl = 'http://127.0.0.1'
  const site = createSite({
    publicUrl,
    networksUrl: publicUrl,
    control,
    clientIp: (_, forwarded) => forwarded,
    answerWithinMs,
    log: () => {},
  })
  const server = createServer((request, response) => void site(request, response, 'id'))
  server.keepAliveTimeout = 60_000
  let cut = 0
  server.on('connection', (socket) => socket.on('close', () => (cut += 1)))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  toStop.push(() => {
    server.closeAllConnections()
    server.close()
  })
  /** How many connections have ended at the site's side. */
  return { port: (server.address() as AddressInfo).port, cut: () => cut }
}
const askOn = (port: number, ip = '203.0.113.9'): Socket => {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(`GET /api/account HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: ${ip}\r\n\r\n`)
  toStop.push(() => socket.destroy())
  return socket
}

/** How many bytes come until the other side has ended the connection. */
const bytesOf = async (socket: Socket): Promise<number> => {
  let bytes = 0
  socket.on('data', (chunk: Buffer) => (bytes += chunk.length))
  await once(socket, 'close')
  return bytes
}

test('an answer that its caller does not get to its end ends its connection, however it came to that', async () => {
  const never = await start({ fetch: () => new Promise(() => {}) })
  expect(await bytesOf(askOn(never.port))).toBe(0)
  const large = await start({ fetch: () => new Response('x'.repeat(30_000_000)) })
  const deaf = askOn(large.port)
  await expect.poll(large.cut).toBe(1)
  expect(await bytesOf(deaf)).toBeLessThan(30_000_000)
})

test('one that its caller has got ends nothing', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { port, cut } = await start({ fetch: () => new Response('good') })
  const socket = askOn(port)
  const [first] = (await once(socket, 'data')) as [Buffer]
  expect(String(first)).toMatch(/^HTTP\/1\.1 200 [^]*good/)
  // The site reads the next request when it has closed the response before, so each time passes after a response that is closed.
  for (let request = 0; request < 3; request += 1) {
    vi.advanceTimersByTime(150)
    socket.write('GET /api/account HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    const [next] = (await once(socket, 'data')) as [Buffer]
    expect(String(next)).toMatch(/^HTTP\/1\.1 200 [^]*good/)
  }
  expect(cut()).toBe(0)
})

test('callers of one address whose answers are in flight leave others theirs', async () => {
  const held: ((response: Response) => void)[] = []
  const { port } = await start({ fetch: () => new Promise((resolve) => held.push(resolve)) }, 60_000)
  const statusOf = async (ip: string): Promise<string> => {
    const socket = askOn(port, ip)
    const [first] = (await once(socket, 'data')) as [Buffer]
    return String(first).slice(9, 12)
  }
  for (let count = 0; count < 500; count += 1) askOn(port, '203.0.113.1')
  await expect.poll(() => held.length).toBe(500)
  expect(await statusOf('203.0.113.1')).toBe('429')
  const other = statusOf('203.0.113.2')
  await expect.poll(() => held.length).toBe(501)
  for (const answer of held.splice(0)) answer(new Response('good'))
  expect(await other).toBe('200')
  const again = statusOf('203.0.113.1')
  await expect.poll(() => held.length).toBe(1)
  held[0]?.(new Response('good'))
  expect(await again).toBe('200')
})
