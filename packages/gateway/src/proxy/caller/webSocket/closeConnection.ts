import { closeCodes } from './closeReasons.ts'
import type { CloseReason } from './closeReasons.ts'
import type { SocketConnection } from './socketConnection.ts'

/** Closes a connection with a code and a reason, at once. Requests in flight are dropped. */
export const closeConnection = (connection: SocketConnection, code: number, reason: CloseReason): void => {
  if (connection.closingAt !== undefined) return
  connection.closingAt = performance.now()
  connection.closeReason = reason
  connection.messages.stop()
  connection.subscriber.leave()
  // Otherwise the caller's own close frame would not be read.
  connection.ws.resume()
  connection.ws.close(code, reason === 'restart' ? 'service restart' : reason)
}

/** Closes a connection for a restart, once the requests in flight are done. @returns False if it was called before. */
export const leaveConnection = (connection: SocketConnection): boolean => {
  if (connection.isLeaving) return false
  connection.isLeaving = true
  connection.messages.stop()
  closeIfIdle(connection)
  return true
}

/** Closes a connection that waits for its requests in flight, if there are none. */
export const closeIfIdle = (connection: SocketConnection): void => {
  if (connection.isLeaving && connection.messages.inFlight() === 0)
    closeConnection(connection, closeCodes.restart, 'restart')
}

/** Cuts a connection off. */
export const terminateConnection = (connection: SocketConnection, reason: CloseReason): void => {
  connection.closeReason ??= reason
  connection.ws.terminate()
}
