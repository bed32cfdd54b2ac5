import type { Duplex } from 'node:stream'

/** Ends the turn of each connection that was written to. All gateways of a process share it. */
let due: (() => void)[] = []

const flush = (): void => {
  const connections = due
  due = []
  for (const endTurn of connections) endTurn()
}

/** Writes to one connection. */
export interface TurnWriter {
  /** Writes bytes. `flushed` is called when the system has them, or when the connection has closed. */
  readonly write: (bytes: Buffer, flushed?: () => void) => void
  /** How many bytes of earlier turns the caller has not read. What a turn writes itself is not counted, because nobody could have read it. */
  readonly behind: () => number
}

/**
 * Creates the writer of a connection. The first bytes of a turn of the event loop are sent at once, because most turns have no more, and the others
 * together by one system call, because one for each notification costs several times as much.
 */
export const createTurnWriter = (socket: Duplex): TurnWriter => {
  let hasWritten = false
  let isCorked = false
  let behind = 0
  const endTurn = (): void => {
    hasWritten = false
    if (isCorked) socket.uncork()
    isCorked = false
  }
  return {
    write: (bytes, flushed) => {
      if (!hasWritten) {
        hasWritten = true
        behind = socket.writableLength
        if (due.push(endTurn) === 1) process.nextTick(flush)
      } else if (!isCorked) {
        isCorked = true
        socket.cork()
      }
      socket.write(bytes, flushed)
    },
    behind: () => (hasWritten ? behind : socket.writableLength),
  }
}
