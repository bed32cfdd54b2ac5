import type { Duplex } from 'node:stream'

/** Sends what was written to each connection in this turn of the event loop. All gateways of a process share it. */
let due: (() => void)[] = []

const flush = (): void => {
  const connections = due
  due = []
  for (const send of connections) send()
}

/** Writes to one connection. */
export interface TurnWriter {
  /** Writes bytes. `flushed` is called when the system has them, or when the connection has closed. */
  readonly write: (bytes: Buffer, flushed?: () => void) => void
  /** How many bytes of earlier turns the caller has not read. What a turn writes itself is not counted, because nobody could have read it. */
  readonly behind: () => number
}

/**
 * Creates the writer of a connection. What is written in one turn of the event loop is sent by one system call, because one for each
 * notification costs several times as much.
 */
export const createTurnWriter = (socket: Duplex): TurnWriter => {
  let isCorked = false
  let behind = 0
  const send = (): void => {
    isCorked = false
    socket.uncork()
  }
  return {
    write: (bytes, flushed) => {
      if (!isCorked) {
        isCorked = true
        behind = socket.writableLength
        socket.cork()
        if (due.push(send) === 1) process.nextTick(flush)
      }
      socket.write(bytes, flushed)
    },
    behind: () => (isCorked ? behind : socket.writableLength),
  }
}
