import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { formatRejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import type { Rejection } from '../../errors/rejection.ts'
import type { Connections } from './connections.ts'
import { corsHeaders } from './cors.ts'

/** How long a connection is kept to read what its caller still sends: closing at once would reset it, and the answer would be lost with it. */
export const lingerMs = 1_000

const rejectionOf = (code: string | undefined): Rejection => {
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
 * Answers what Node's parser rejected (for one: a Content-Length beside a Transfer-Encoding), for which there is no response object,
 * and closes the connection: where the next request begins on it is not known.
 */
export const rejectBrokenHttp = (code: string | undefined, socket: Duplex, connections: Connections): void => {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  connections.whenAnswered(socket, () => {
    const rejection = rejectionOf(code)
    const requestId = randomUUID()
    const body = formatRejection(rejection, 'null', requestId)
    const head = [
      `HTTP/1.1 ${rejection.status} ${phrases[rejection.status] ?? ''}`,
      'Content-Type: application/json',
      `X-Request-Id: ${requestId}`,
    ]
    for (let place = 0; place + 1 < corsHeaders.length; place += 2)
      head.push(`${corsHeaders[place]}: ${corsHeaders[place + 1]}`)
    head.push(`Content-Length: ${Buffer.byteLength(body)}`, 'Connection: close')
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
    socket.resume()
    setTimeout(() => socket.destroy(), lingerMs).unref()
  })
}
