import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { OddResponseCase } from './oddResponses.ts'

/** A server that responds to every request with one odd response, which can be replaced at any time. */
export interface OddResponseServer {
  readonly url: string
  response: OddResponseCase['response']
  readonly close: () => Promise<void>
}

const compressors = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync }

/** Returns the bytes of a response's body. */
export function toBodyBytes({ body = '', base64, compress, cut }: OddResponseCase['response'], id: unknown): Buffer {
  const plain = base64 === undefined ? Buffer.from(body.replaceAll('$id', String(id))) : Buffer.from(base64, 'base64')
  return (compress ? compressors[compress](plain) : plain).subarray(0, cut)
}

/** Writes a response to a connection. */
const write = (socket: Socket, response: OddResponseCase['response'], id: unknown): void => {
  const { status, reason = 'OK', headers = [], interim = [], framing = 'length' } = response
  const body = toBodyBytes(response, id)
  const isChunked = framing === 'chunked' || framing === 'brokenChunks'
  const ends = framing !== 'length' && framing !== 'chunked'
  const framed = [
    ...headers,
    ...(isChunked ? [['transfer-encoding', 'chunked']] : []),
    ...(framing === 'length' && status !== 204 ? [['content-length', body.length]] : []),
    ...(framing === 'broken' || framing === 'reset' ? [['content-length', body.length + 100]] : []),
    ...(ends ? [['connection', 'close']] : []),
  ]
  for (const early of interim) socket.write(`HTTP/1.1 ${early} Early\r\n\r\n`)
  socket.write(`HTTP/1.1 ${status} ${reason}\r\n${framed.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
  if (isChunked) socket.write(`${(framing === 'chunked' ? body.length : body.length + 100).toString(16)}\r\n`)
  socket.write(body)
  if (framing === 'chunked') socket.write('\r\n0\r\n\r\n')
  if (framing === 'reset') socket.resetAndDestroy()
  else if (ends) socket.end()
}

/** Starts a server on a free port. */
export async function startOddResponseServer(): Promise<OddResponseServer> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    // A reset drops what is not sent yet.
    socket.setNoDelay(true)
    socket.on('error', () => {})
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk.toString()
      const [, head = '', length = ''] = /^([^]*?content-length: (\d+)[^]*?\r\n\r\n)/i.exec(received) ?? []
      if (!head || received.length < head.length + Number(length)) return
      const { id } = JSON.parse(received.slice(head.length)) as { readonly id: unknown }
      received = ''
      write(socket, odd.response, id)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const odd: OddResponseServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    response: { status: 200 },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return odd
}
