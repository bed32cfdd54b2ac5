import type { GatewayContext } from '../request/gatewayContext.ts'
import type { SubscriptionKind } from '../subscription/subscriptionHub.ts'
import type { Network } from '../../lib/network.ts'
import type { ConnectionCounts } from './createConnectionCounts.ts'
import type { SocketConnection } from './createSocketConnection.ts'

/** What the WebSockets of a gateway share. */
export interface SocketServerState {
  /** The current context, which a reload replaces. */
  readonly gateway: () => GatewayContext
  readonly add: (connection: SocketConnection) => void
  /** Call this when a connection has closed and its usage is counted. */
  readonly remove: (connection: SocketConnection) => void
  readonly counts: ConnectionCounts
  readonly countNotifications: (network: Network, kind: SubscriptionKind, notifications: number) => void
}
