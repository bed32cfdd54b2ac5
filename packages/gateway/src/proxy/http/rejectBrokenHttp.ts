import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { formatRejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import type { Rejection } from '../../errors/rejection.ts'
import type { Connections } from './connections.ts'
import { corsHeaders } from './cors.ts'

/** How long a connection stays open to read what its caller still sends: closing it at once would reset it, and the response would be lost. */
export const closeGraceMs = 1_000

const toRejection = (code: string | undefined): Rejection => {
  if (code === 'HPE_HEADER_OVERFLOW') return rejections.headersTooLarge()
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return rejections.requestTimeout()
  return rejections.badHttp()
}

const phrases: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

/**
 * Responds to a request that Node's parser rejected, for example one with both Content-Length and Transfer-Encoding. Such a request has no
 * response object. Then closes the connection, because the start of the next request on it is unknown.
 */
export const rejectBrokenHttp = (code: string | undefined, socket: Duplex, connections: Connections): void => {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  connections.onceIdle(socket, () => {
    const rejection = toRejection(code)
    const requestId = randomUUID()
    const body = formatRejection(rejection, 'null', requestId)
    const head = [
      `HTTP/1.1 ${rejection.status} ${phrases[rejection.status] ?? ''}`,
      'Content-Type: application/json',
      `X-Request-Id: ${requestId}`,
    ]
    for (let index = 0; index + 1 < corsHeaders.length; index += 2)
      head.push(`${corsHeaders[index]}: ${corsHeaders[index + 1]}`)
    head.push(`Content-Length: ${Buffer.byteLength(body)}`, 'Connection: close')
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
    socket.resume()
    setTimeout(() => socket.destroy(), closeGraceMs).unref()
  })
}
