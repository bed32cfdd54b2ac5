import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { createControlServer, setControlBounds } from './createControlServer.ts'

const isProxy = (): boolean => true
const answer = (_: unknown, response: ServerResponse): void => void response.end()

test('more callers than may be, and those who never say what they want, are let go', async () => {
  const server = createControlServer({
    bounds: { maxConnections: 2, headersTimeoutMs: 500, requestTimeoutMs: 400 },
    isProxy,
    answer,
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const open = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    return socket
  }
  const dropped = once(server, 'drop')
  const first = await open()
  const others = [await open(), await open()]
  await dropped
  first.write('GET / HTTP/1.1\r\nHost: localhost\r\n')
  expect(await text(first)).toMatch(/^HTTP\/1\.1 408 /)
  for (const socket of [first, ...others]) socket.destroy()
  server.closeAllConnections()
  await once(server.close(), 'close')
})

test('another config holds for callers who were there before', async () => {
  const server = createControlServer({ bounds: {}, isProxy, answer })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const first = connect(port, '127.0.0.1')
  await once(first, 'connect')
  first.write('GET / HTTP/1.1\r\nHost: localhost\r\n')
  setControlBounds(server, { maxConnections: 1 })
  const dropped = once(server, 'drop')
  const second = connect(port, '127.0.0.1')
  second.on('error', () => {})
  await dropped
  setControlBounds(server, { headersTimeoutMs: 200 })
  expect(await text(first)).toMatch(/^HTTP\/1\.1 408 /)
  for (const socket of [first, second]) socket.destroy()
  server.closeAllConnections()
  await once(server.close(), 'close')
})

test('of one connection four requests are worked on at once, and all are answered in their order', async () => {
  const open: ServerResponse[] = []
  let count = 0
  const server = createControlServer({ bounds: {}, isProxy, answer: (_, response) => void open.push(response) })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  let got = ''
  socket.on('data', (chunk: Buffer) => (got += chunk.toString()))
  socket.write('GET /api HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(20))
  while (count < 20) {
    await expect.poll(() => open.length).toBe(Math.min(4, 20 - count))
    for (const response of open.splice(0)) response.end(`answer ${(count += 1)}.`)
  }
  await expect.poll(() => got.match(/answer \d+/g)?.length).toBe(20)
  expect(got.match(/answer \d+/g)).toEqual(Array.from({ length: 20 }, (_, index) => `answer ${index + 1}`))
  socket.destroy()
  server.closeAllConnections()
  await once(server.close(), 'close')
})
