import { unpin } from './unpin.ts'

/** Each chunk costs about 200 bytes in addition to its content, so chunks smaller than this are joined. */
const smallChunk = 1024
const joinedBytes = 4 * 1024

/** The chunks of a body so far. Most bodies have one. One in many tiny chunks takes no more memory than one that arrives whole. */
export type Chunks = Buffer | SeveralChunks

interface SeveralChunks {
  readonly list: Buffer[]
  /** The small chunks after those of the list. */
  joined: Buffer | undefined
  /** How many bytes of `joined` are used. */
  used: number
}

/** Adds a chunk. @param chunks - `undefined`: it is the first one. @returns All chunks, in place of `chunks`. */
export const addChunk = (chunks: Chunks | undefined, chunk: Buffer): Chunks => {
  if (chunks === undefined) return unpin(chunk)
  const several: SeveralChunks = 'list' in chunks ? chunks : { list: [chunks], joined: undefined, used: 0 }
  if (chunk.length >= smallChunk) {
    flush(several)
    several.list.push(unpin(chunk))
    return several
  }
  several.joined ??= Buffer.allocUnsafeSlow(joinedBytes)
  if (several.used + chunk.length > joinedBytes) flush(several)
  several.used += chunk.copy(several.joined, several.used)
  return several
}

const flush = (several: SeveralChunks): void => {
  if (several.joined !== undefined && several.used > 0)
    several.list.push(Buffer.from(several.joined.subarray(0, several.used)))
  several.used = 0
}

/** Gets the chunks, some of them joined. */
export const listChunks = (chunks: Chunks | undefined): readonly Buffer[] => {
  if (chunks === undefined) return []
  if (!('list' in chunks)) return [chunks]
  flush(chunks)
  return chunks.list
}

/** Joins all chunks. Call it once, at the end. */
export const joinChunks = (chunks: Chunks | undefined): Buffer =>
  chunks instanceof Buffer ? chunks : Buffer.concat(listChunks(chunks))
