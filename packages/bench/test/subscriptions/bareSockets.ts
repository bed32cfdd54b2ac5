import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

// The floor of measureSockets.ts, in a process of its own: sockets of node:net, and one `write` of a finished frame to each. It sends the frame that it
// gets as a message, and reports the CPU that the process has used for the message `report`.

/** Builds a frame as a server sends it, of 126 to 65,535 bytes. RFC 6455 section 5.2. */
const toFrame = (text: string): Buffer => {
  const header = Buffer.from([0x81, 126, text.length >> 8, text.length & 0xff])
  return Buffer.concat([header, Buffer.from(text)])
}

const sockets = new Set<Duplex>()
const server = createServer()
server.on('upgrade', (request, socket) => {
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64')
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  )
  socket.on('error', () => socket.destroy())
  // The clients wait for a response to their subscription.
  socket.once('data', () => {
    socket.write(toFrame(' '.repeat(126)))
    socket.resume()
  })
  sockets.add(socket)
})

process.on('message', (message: { readonly send: string } | 'report') => {
  if (message === 'report') {
    const { user, system } = process.cpuUsage()
    process.send?.((user + system) / 1_000)
    return
  }
  const frame = toFrame(message.send)
  for (const socket of sockets) socket.write(frame)
})
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.send?.(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`)
