import type { Socket } from 'node:net'
import type { Script } from '../faultServer.ts'
import { createResponseBytes } from './responseBytes.ts'
import type { Framing } from './responseBytes.ts'
import type { GetItem } from './respondWith.ts'

/** Options of {@link slowResponse}. */
export interface SlowOptions {
  readonly framing?: Framing
  readonly getItem?: GetItem
}

/** The number of chunks of the slow part. */
const pieceCount = 10

/** Sends bytes in chunks, evenly over a time in milliseconds. Stops if the connection closes. */
const drip = (socket: Socket, bytes: Buffer, ms: number, then: () => void): void => {
  const size = Math.ceil(bytes.length / pieceCount)
  let at = 0
  const timer = setInterval(() => {
    if (socket.writable) socket.write(bytes.subarray(at, (at += size)))
    if (socket.writable && at < bytes.length) return
    clearInterval(timer)
    then()
  }, ms / pieceCount)
}

/** A correct response of which one part, head or body, takes a time in milliseconds. */
export function slowResponse(part: 'head' | 'body', ms: number, { framing, getItem }: SlowOptions = {}): Script {
  return (seen, _response, socket) => {
    const { head, body } = createResponseBytes(seen, framing, getItem)
    if (part === 'head') return drip(socket, head, ms, () => socket.end(body))
    socket.write(head)
    drip(socket, body, ms, () => socket.end())
  }
}
