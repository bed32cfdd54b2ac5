import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { updateServer } from '../proxy/http/createBoundedServer.ts'
import { bounds } from '../proxy/options/bounds.ts'
import { createControlServer } from './createControlServer.ts'

const isProxy = (): boolean => true
const handle = (_: unknown, response: ServerResponse): void => void response.end()

test('closes connections beyond the limit, and those with an incomplete request', async () => {
  const server = createControlServer({
    bounds: bounds.parse({ maxConnections: 2, requestTimeoutMs: 400 }),
    isProxy,
    handle,
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

test('new bounds apply to open connections', async () => {
  const server = createControlServer({ bounds: bounds.parse({}), isProxy, handle })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const first = connect(port, '127.0.0.1')
  await once(first, 'connect')
  first.write('GET / HTTP/1.1\r\nHost: localhost\r\n')
  updateServer(server, { bounds: bounds.parse({ maxConnections: 1 }) })
  const dropped = once(server, 'drop')
  const second = connect(port, '127.0.0.1')
  second.on('error', () => {})
  await dropped
  updateServer(server, { bounds: bounds.parse({ headersTimeoutMs: 200 }) })
  expect(await text(first)).toMatch(/^HTTP\/1\.1 408 /)
  for (const socket of [first, second]) socket.destroy()
  server.closeAllConnections()
  await once(server.close(), 'close')
})

test('keeps idle connections for as long as the config says, also after a reload', async () => {
  const server = createControlServer({ bounds: bounds.parse({ keepAliveTimeoutMs: 620_000 }), isProxy, handle })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const getKeepAlive = async () => (await fetch(`http://127.0.0.1:${port}/`)).headers.get('keep-alive')
  expect(await getKeepAlive()).toBe('timeout=620')
  updateServer(server, { bounds: bounds.parse({}) })
  expect(await getKeepAlive()).toBe('timeout=65')
  server.closeAllConnections()
  await once(server.close(), 'close')
})

test('handles at most four requests of a connection at once, and responds in order', async () => {
  const open: ServerResponse[] = []
  let count = 0
  const server = createControlServer({
    bounds: bounds.parse({}),
    isProxy,
    handle: (_, response) => void open.push(response),
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  let got = ''
  socket.on('data', (chunk: Buffer) => (got += chunk.toString()))
  socket.write('GET /api HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(20))
  while (count < 20) {
    await expect.poll(() => open.length).toBe(Math.min(4, 20 - count))
    for (const response of open.splice(0)) response.end(`response ${(count += 1)}.`)
  }
  await expect.poll(() => got.match(/response \d+/g)?.length).toBe(20)
  expect(got.match(/response \d+/g)).toEqual(Array.from({ length: 20 }, (_, index) => `response ${index + 1}`))
  socket.destroy()
  server.closeAllConnections()
  await once(server.close(), 'close')
})
