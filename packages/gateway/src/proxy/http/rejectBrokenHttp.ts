import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { refusalText } from '../../errors/rejectionText.ts'
import { refusals } from '../../errors/rejections.ts'
import type { Refusal } from '../../errors/rejection.ts'
import type { Connections } from './connections.ts'
import { corsHeaders } from './cors.ts'

/** How long a connection is kept to read what its caller still sends: closing at once would reset it, and the answer would be lost with it. */
export const lingerMs = 1_000

const refusalOf = (code: string | undefined): Refusal => {
  if (code === 'HPE_HEADER_OVERFLOW') return refusals.headersTooLarge()
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return refusals.requestTimeout()
  return refusals.badHttp()
}

const phrases: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

/**
 * Answers what Node's parser refused (for one: a Content-Length beside a Transfer-Encoding), for which there is no response object,
 * and closes the connection: where the next request begins on it is not known.
 */
export const answerBrokenHttp = (code: string | undefined, socket: Duplex, connections: Connections): void => {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  connections.whenAnswered(socket, () => {
    const refusal = refusalOf(code)
    const requestId = randomUUID()
    const body = refusalText(refusal, 'null', requestId)
    const head = [
      `HTTP/1.1 ${refusal.status} ${phrases[refusal.status] ?? ''}`,
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
