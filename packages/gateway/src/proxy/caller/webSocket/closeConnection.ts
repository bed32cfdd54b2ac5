import { closeCodes } from './closeReasons.ts'
import type { CloseReason } from './closeReasons.ts'
import type { SocketConnection } from './socketConnection.ts'

/** Closes a connection with a code and a reason, at once. Requests in flight are dropped. */
export const closeConnection = (connection: SocketConnection, code: number, reason: CloseReason): void => {
  if (connection.closingAt !== undefined) return
  connection.closingAt = performance.now()
  connection.closeReason = reason
  stopMessages(connection)
  connection.subscriber.leave()
  // Otherwise the caller's own close frame would not be read.
  connection.ws.resume()
  connection.ws.close(code, reason === 'restart' ? 'service restart' : reason)
}

/** Closes a connection for a restart, once the requests in flight are done. @returns False if it was called before. */
export const leaveConnection = (connection: SocketConnection): boolean => {
  if (connection.isLeaving) return false
  connection.isLeaving = true
  stopMessages(connection)
  closeIfIdle(connection)
  return true
}

/** Closes a connection that waits for its requests in flight, if there are none. */
export const closeIfIdle = (connection: SocketConnection): void => {
  if (connection.isLeaving && connection.messages.open.size === 0)
    closeConnection(connection, closeCodes.restart, 'restart')
}

/** Handles no message from now on, and lets those in flight complete. */
export const stopMessages = ({ messages }: SocketConnection): void => {
  messages.isStopped = true
  messages.queue.length = 0
}

/** Whether a connection can be written to. */
export const isOpen = ({ ws }: SocketConnection): boolean => ws.readyState === ws.OPEN

/** Cuts a connection off. */
export const terminateConnection = (connection: SocketConnection, reason: CloseReason): void => {
  connection.closeReason ??= reason
  connection.ws.terminate()
}
