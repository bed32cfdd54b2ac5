import type { Seen } from '../faultServer.ts'
import { bodyFor, echoItem } from './answering.ts'
import type { ItemOf } from './answering.ts'

/** How the end of a body is told: by its length, by a last chunk, or by the end of the connection. */
export type Framing = 'length' | 'chunked' | 'close'

/** An answer as it goes over the wire, its head and its body. */
export interface AnswerBytes {
  readonly head: Buffer
  readonly body: Buffer
}

/** Writes a good answer down to the byte, so that a script can send any part of it in any way. */
export function answerBytes(seen: Seen, framing: Framing = 'length', itemOf: ItemOf = echoItem): AnswerBytes {
  const text = JSON.stringify(bodyFor(seen, itemOf))
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
