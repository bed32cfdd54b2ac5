import type { Socket } from 'node:net'
import type { Script } from '../faultServer.ts'
import { answerBytes } from './answerBytes.ts'
import type { Framing } from './answerBytes.ts'
import type { ItemOf } from './answering.ts'

/** Options of {@link slowAnswer}. */
export interface SlowOptions {
  readonly framing?: Framing
  readonly itemOf?: ItemOf
}

/** So many pieces the slow part comes in. */
const PIECES = 10

/** Sends bytes in pieces, evenly over a time in milliseconds; no more of them once the connection has gone. */
const drip = (socket: Socket, bytes: Buffer, ms: number, then: () => void): void => {
  const size = Math.ceil(bytes.length / PIECES)
  let at = 0
  const timer = setInterval(() => {
    if (socket.writable) socket.write(bytes.subarray(at, (at += size)))
    if (socket.writable && at < bytes.length) return
    clearInterval(timer)
    then()
  }, ms / PIECES)
}

/** A good answer of which one part drips for so many milliseconds: its head, or, after a head that comes at once, its body. */
export function slowAnswer(part: 'head' | 'body', ms: number, { framing, itemOf }: SlowOptions = {}): Script {
  return (seen, _response, socket) => {
    const { head, body } = answerBytes(seen, framing, itemOf)
    if (part === 'head') return drip(socket, head, ms, () => socket.end(body))
    socket.write(head)
    drip(socket, body, ms, () => socket.end())
  }
}
