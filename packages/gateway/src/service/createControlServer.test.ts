import { once } from 'node:events'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { createControlServer } from './createControlServer.ts'

test('more callers than may be, and those who never say what they want, are let go', async () => {
  const server = createControlServer({ bounds: { maxConnections: 2, headersTimeoutMs: 500, requestTimeoutMs: 400 } })
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
