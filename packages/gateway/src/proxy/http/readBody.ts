import type { IncomingMessage } from 'node:http'
import { createChunks } from '../../lib/createChunks.ts'
import type { Chunks } from '../../lib/createChunks.ts'

/** How reading ended: with the bytes, with too many of them, without room for them, or with a caller that went away. */
export type BodyEnd = Buffer | 'tooLarge' | 'noRoom' | 'gone'

/** A body up to this size that comes in one piece asks for no room: so small calls go on where there is none. */
const smallBody = 4 * 1024

const nothing = Buffer.alloc(0)

/** Whether the length that was announced is too large already, so that not a byte need be read. */
export const announcesTooMuch = (request: IncomingMessage, maxBytes: number): boolean =>
  Number(request.headers['content-length'] ?? 0) > maxBytes

/**
 * Reads a request's body to its end, or to the limit: then the bytes read are let go, and the rest is left to the caller of this.
 * @param options.keep - False reads the body only to get past it, so that a request rejected early costs no memory.
 * @param options.room - Asked for each part of a body, but for a small one that comes in one piece: false where there is no room for so many bytes. @default always
 * @param done - Called once.
 */
export const readBody = (
  request: IncomingMessage,
  options: { maxBytes: number; keep: boolean; room?: (bytes: number) => boolean },
  done: (end: BodyEnd) => void,
): void => {
  let first: Buffer | undefined
  let pieces: Chunks | undefined
  let size = 0
  let ended = false
  const finish = (end: BodyEnd): void => {
    if (ended) return
    ended = true
    first = undefined
    pieces = undefined
    request.off('data', onData)
    done(end)
  }
  /** A small body, and all of it. */
  const isSmall = ({ length }: Buffer): boolean =>
    length <= smallBody && length === size && length === Number(request.headers['content-length'])
  const onData = (chunk: Buffer): void => {
    size += chunk.length
    if (size > options.maxBytes) finish('tooLarge')
    else if (!options.keep) return
    else if (!isSmall(chunk) && options.room?.(chunk.length) === false) finish('noRoom')
    else if (first === undefined) first = chunk
    else (pieces ??= createChunks(first)).add(chunk)
  }
  request.on('data', onData)
  request.on('end', () => finish(pieces?.join() ?? first ?? nothing))
  request.on('close', () => finish('gone'))
  request.on('error', () => finish('gone'))
}
