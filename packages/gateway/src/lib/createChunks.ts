import { unpin } from './unpin.ts'

/** Each chunk costs about 200 bytes in addition to its content, so chunks smaller than this are joined. */
const smallChunk = 1024
const joinedBytes = 4 * 1024

/** Buffers the chunks of a body. A body in many tiny chunks takes no more memory than one that arrives whole. */
export interface Chunks {
  readonly add: (chunk: Buffer) => void
  /** The chunks so far, some of them joined. */
  readonly list: () => readonly Buffer[]
  /** Joins all chunks. Call it once, at the end. */
  readonly join: () => Buffer
}

/**
 * Creates a buffer for chunks.
 * @param first - The first chunk. Most bodies have only one: do not create a buffer for those.
 */
export const createChunks = (first: Buffer): Chunks => {
  const chunks = [unpin(first)]
  let joined: Buffer | undefined
  let used = 0
  const flush = (): void => {
    if (joined !== undefined && used > 0) chunks.push(Buffer.from(joined.subarray(0, used)))
    used = 0
  }
  return {
    add: (chunk) => {
      if (chunk.length >= smallChunk) {
        flush()
        chunks.push(unpin(chunk))
        return
      }
      joined ??= Buffer.allocUnsafeSlow(joinedBytes)
      if (used + chunk.length > joinedBytes) flush()
      used += chunk.copy(joined, used)
    },
    list: () => {
      flush()
      return chunks
    },
    join: () => {
      flush()
      const [only] = chunks
      return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)
    },
  }
}
