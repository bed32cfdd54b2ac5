import type { IncomingMessage } from 'node:http'
import { addChunk, joinChunks } from '../../lib/chunks.ts'
import type { Chunks } from '../../lib/chunks.ts'

/** The bytes of a body, or the reason for their absence: it is too large, there is no room for it, or the caller disconnected. */
export type BodyResult = Buffer | 'tooLarge' | 'noRoom' | 'gone'

/** A body up to this size that arrives in one chunk needs no room, so small calls work even when there is none. */
const smallBodyBytes = 4 * 1024

/** Whether a request's `Content-Length` is too large, so that no byte of its body needs to be read. */
export const isBodyTooLarge = (request: IncomingMessage, maxBytes: number): boolean =>
  Number(request.headers['content-length'] ?? 0) > maxBytes

/**
 * Reads a request's body. At the limit it drops the bytes that it has read and stops; the caller decides about the rest.
 * @param options.buffer - False discards the body, so a request that was rejected early uses no memory.
 * @param options.room - Called for each chunk, except for a small body that arrives in one chunk. Returns false if there is no room for this many
 * bytes. @default always
 * @param done - Called once.
 */
export const readBody = (
  request: IncomingMessage,
  options: { maxBytes: number; buffer: boolean; room?: (bytes: number) => boolean },
  done: (result: BodyResult) => void,
): void => {
  let chunks: Chunks | undefined
  let size = 0
  let ended = false
  const finish = (result: BodyResult): void => {
    if (ended) return
    ended = true
    chunks = undefined
    request.off('data', onData)
    done(result)
  }
  const onData = (chunk: Buffer): void => {
    size += chunk.length
    if (size > options.maxBytes) finish('tooLarge')
    else if (!options.buffer) return
    else if (!isSmallBody(request, chunk, size) && options.room?.(chunk.length) === false) finish('noRoom')
    else chunks = addChunk(chunks, chunk)
  }
  request.on('data', onData)
  request.on('end', () => finish(joinChunks(chunks)))
  const gone = (): void => finish('gone')
  request.on('close', gone)
  request.on('error', gone)
}

/** Whether a chunk is the whole body, and small. */
const isSmallBody = ({ headers }: IncomingMessage, { length }: Buffer, size: number): boolean =>
  length <= smallBodyBytes && length === size && length === Number(headers['content-length'])
