import type { GatewayContext } from '../../request/gatewayContext.ts'
import { closeConnection, terminateConnection } from './closeConnection.ts'
import { closeCodes } from './closeReasons.ts'
import { chargeNotifications } from './createNotificationUsage.ts'
import type { SocketConnection } from './socketConnection.ts'

/** How long a caller may take to confirm that its connection is closed, in milliseconds. */
const closeTimeoutMs = 2_000

/** Sends a ping if one is due, cuts off a caller that did not respond to the last one, and charges its notifications. Call it every second or two. */
export const maintainConnection = (gateway: GatewayContext, connection: SocketConnection): void => {
  const { closingAt, messages, reader, pingedAt } = connection
  const now = performance.now()
  if (closingAt !== undefined) {
    if (now - closingAt >= closeTimeoutMs) terminateConnection(connection, 'client')
  } else if (now >= (messages.deadlines[0] ?? Infinity)) terminateConnection(connection, 'slow_reader')
  else if (reader.isLate(now)) closeConnection(connection, closeCodes.policy, 'request_timeout')
  else {
    const rejection = chargeNotifications(gateway, connection)
    if (rejection !== undefined) closeConnection(connection, closeCodes.policy, rejection.reason)
    else if (now - pingedAt >= gateway.config.webSocket.pingMs) ping(connection, now)
  }
}

const ping = (connection: SocketConnection, now: number): void => {
  const { isAlive, messages, ws } = connection
  // While responses wait for the caller, or it is not read from, it can't respond to a ping. Responses have a time limit of their own.
  if (!isAlive && !messages.isPaused && messages.unflushed === 0) {
    terminateConnection(connection, 'no_pong')
    return
  }
  connection.isAlive = false
  connection.pingedAt = now
  ws.ping()
}
