import type { Seen } from '../faultServer.ts'
import { bodyFor, echoItem } from './respondWith.ts'
import type { GetItem } from './respondWith.ts'

/** How the end of a body is marked: by content-length, a last chunk, or the end of the connection. */
export type Framing = 'length' | 'chunked' | 'close'

/** The bytes of a response: head and body. */
export interface ResponseBytes {
  readonly head: Buffer
  readonly body: Buffer
}

/** Serializes a correct response, so that a script can send any part of it in any way. */
export function createResponseBytes(
  seen: Seen,
  framing: Framing = 'length',
  getItem: GetItem = echoItem,
): ResponseBytes {
  const text = JSON.stringify(bodyFor(seen, getItem))
  const length = Buffer.byteLength(text)
  const middle = Math.max(1, length >> 1)
  const bytes = Buffer.from(text)
  const frame = {
    length: `content-length: ${length}\r\nconnection: close\r\n`,
    chunked: 'transfer-encoding: chunked\r\nconnection: close\r\n',
    close: 'connection: close\r\n',
  }[framing]
  return {
    head: Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${frame}\r\n`),
    body:
      framing === 'chunked'
        ? Buffer.concat([chunk(bytes.subarray(0, middle)), chunk(bytes.subarray(middle)), Buffer.from('0\r\n\r\n')])
        : bytes,
  }
}

const chunk = (part: Buffer): Buffer =>
  part.length === 0 ? part : Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')])
