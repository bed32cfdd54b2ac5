import type { Duplex } from 'node:stream'
import { dropAllBytes, dropBytes, getOwnMost, holdBytes } from '../../../lib/memoryBudget.ts'
import type { BufferedBytes } from '../../../lib/memoryBudget.ts'
import { copyBytes } from '../../../lib/unpin.ts'
import { createFrameScanner } from './createFrameScanner.ts'

/** Reads the messages of one connection. */
export interface MessageReader {
  /** Whether a message has taken too long to arrive. @param now - By `performance.now`. */
  readonly isLate: (now: number) => boolean
  /** Call this when the connection has closed. */
  readonly close: () => void
}

/** The options of a reader. */
export interface MessageReaderOptions {
  /** Holds the message that has not arrived completely. */
  readonly memory: BufferedBytes
  /** How long a message may take to arrive, in milliseconds. */
  readonly timeoutMs: () => number
  /**
   * Called once if there is no room for a message. The reader drops what arrives from then on.
   * @param isTooBig - Whether the message alone takes more than a connection may hold.
   */
  readonly onNoRoom: (isTooBig: boolean) => void
}

/** Each part that the library stores costs about this much besides its bytes. */
const partBytes = 256

/**
 * Counts the bytes of incomplete messages before the WebSocket library stores them. It passes the parts of such messages as copies: the library keeps
 * slices of what was read, so a message in fragments of one byte would keep 64 kB for each.
 * @param socket - A connection that the library reads already.
 */
export const createMessageReader = (
  socket: Duplex,
  { memory, timeoutMs, onNoRoom }: MessageReaderOptions,
): MessageReader => {
  const read = socket.listeners('data').at(-1) as (this: Duplex, chunk: Buffer) => void
  const scanner = createFrameScanner()
  let startedAt: number | undefined
  const held = { message: 0, control: 0 }
  let isOver = false

  const onData = (chunk: Buffer): void => {
    if (isOver) return
    for (const { bytes, isStored, isLast, isControl } of scanner.push(chunk)) {
      const part = isControl ? 'control' : 'message'
      if (isLast) {
        dropBytes(memory, held[part])
        held[part] = 0
        if (memory.held === 0) startedAt = undefined
      } else if (isStored) {
        const added = bytes.length + partBytes
        if (!holdBytes(memory, added)) {
          isOver = true
          onNoRoom(memory.held + added > getOwnMost(memory))
          return
        }
        held[part] += added
        startedAt ??= performance.now()
      }
      read.call(socket, isStored ? copyBytes(bytes) : bytes)
      // The library has closed the connection.
      if (socket.destroyed) return
    }
  }
  socket.off('data', read)
  socket.on('data', onData)
  return {
    isLate: (now) => startedAt !== undefined && now - startedAt > timeoutMs(),
    close: () => {
      socket.off('data', onData)
      dropAllBytes(memory)
    },
  }
}
