import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { createResults } from './results.ts'

// Runs in a separate process, on bare sockets and with prepared results, so that rows measure the client.

const END_OF_HEAD = Buffer.from('\r\n\r\n')
const results = new Map(
  Object.entries(createResults()).map(([method, result]) => [method, Buffer.from(`,"result":${result}}`)]),
)
const unknownMethod = Buffer.from(',"error":{"code":-32601,"message":"the method does not exist"}}')

/** `{"jsonrpc":"2.0","id":7`, and the prepared rest. */
const parts = (id: unknown, method: string): readonly [Buffer, Buffer] => [
  Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)}`),
  results.get(method) ?? unknownMethod,
]

const createResponse = (body: string): readonly Buffer[] => {
  const call = JSON.parse(body) as { id: unknown; method: string } | { id: unknown; method: string }[]
  if (!Array.isArray(call)) return parts(call.id, call.method)
  const list = call.flatMap(({ id, method }, at) => [Buffer.from(at ? ',' : '['), ...parts(id, method)])
  return [...list, Buffer.from(']')]
}

let date = new Date().toUTCString()
setInterval(() => {
  date = new Date().toUTCString()
}, 1_000).unref()

const reply = (socket: Socket, body: string): void => {
  const chunks = createResponse(body)
  let bytes = 0
  for (const chunk of chunks) bytes += chunk.length
  const head =
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: ${date}\r\nConnection: keep-alive\r\n` +
    `Keep-Alive: timeout=60\r\nContent-Length: ${bytes}\r\n\r\n`
  // Small responses are joined into one chunk; large ones are not copied.
  if (bytes < 65_536) return void socket.write(Buffer.concat([Buffer.from(head), ...chunks]))
  socket.cork()
  socket.write(head)
  for (const chunk of chunks) socket.write(chunk)
  socket.uncork()
}

const server = createServer({ noDelay: true }, (socket) => {
  let waiting: Buffer = Buffer.alloc(0)
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk) => {
    waiting = waiting.length ? Buffer.concat([waiting, chunk]) : chunk
    for (;;) {
      const end = waiting.indexOf(END_OF_HEAD)
      if (end < 0) return
      const head = waiting.toString('latin1', 0, end)
      const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0)
      if (waiting.length < end + 4 + length) return
      const body = waiting.toString('utf8', end + 4, end + 4 + length)
      waiting = waiting.subarray(end + 4 + length)
      // A path such as /after/20 adds this latency in milliseconds.
      const latencyMs = Number(/^\S+ \/after\/(\d+)/.exec(head)?.[1] ?? 0)
      if (latencyMs) setTimeout(() => reply(socket, body), latencyMs)
      else reply(socket, body)
    }
  })
})

server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit())
