import type { CallPath } from '../../http/parsePath.ts'
import type { GatewayContext } from '../../request/gatewayContext.ts'
import type { AuthorizedRequest } from '../../request/requestContext.ts'
import type { SubscriptionKind } from '../../subscription/subscriptionHub.ts'
import type { Network } from '../../../lib/network.ts'
import type { ConnectionCounts } from './createConnectionCounts.ts'
import type { CloseReason } from './closeReasons.ts'

/** An open WebSocket. */
export interface SocketConnection {
  readonly network: Network
  /** As the last check found it. */
  readonly authorized: () => AuthorizedRequest
  readonly path: CallPath
  /** Uses the result of a later check of the same caller. */
  readonly reauthorize: (authorized: AuthorizedRequest) => void
  /** Closes it with a code and a reason, at once. Requests in flight are dropped. */
  readonly close: (code: number, reason: CloseReason) => void
  /** Closes it for a restart, once the requests in flight are done. @returns False if it was called before. */
  readonly leave: () => boolean
  /** Cuts it off. */
  readonly terminate: (reason: CloseReason) => void
  /** Sends a ping if one is due, cuts off a caller that did not respond to the last one, and charges its notifications. Called every second or two. */
  readonly maintain: (gateway: GatewayContext) => void
  /** Requests in flight. */
  readonly inFlight: () => number
}

/** The state that the WebSockets of a gateway share. */
export interface SocketServerState {
  /** The current context, which a reload replaces. */
  readonly gateway: () => GatewayContext
  readonly add: (connection: SocketConnection) => void
  /** Call this when a connection has closed and its usage is counted. */
  readonly remove: (connection: SocketConnection) => void
  readonly counts: ConnectionCounts
  readonly countNotifications: (network: Network, kind: SubscriptionKind, notifications: number) => void
}
