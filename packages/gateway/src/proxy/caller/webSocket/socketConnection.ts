import type { WebSocket, WebSocketServer } from 'ws'
import type { BufferedBytes } from '../../../lib/memoryBudget.ts'
import type { Network } from '../../../lib/network.ts'
import type { CallPath } from '../../http/parsePath.ts'
import type { GatewayContext } from '../../request/gatewayContext.ts'
import type { AuthorizedRequest, RequestContext } from '../../request/requestContext.ts'
import type { SubscriptionKind } from '../../subscription/subscriptionHub.ts'
import type { CloseReason } from './closeReasons.ts'
import type { ConnectionCounts } from './createConnectionCounts.ts'
import type { MessageReader } from './createMessageReader.ts'
import type { ConnectionSubscriber } from './createSubscriber.ts'
import type { TurnWriter } from './createTurnWriter.ts'
import type { NotificationUsage } from './createNotificationUsage.ts'

/** An open WebSocket. */
export interface SocketConnection {
  readonly server: SocketServerState
  readonly ws: WebSocket
  readonly path: CallPath
  /** By `performance.now`, like all times here. */
  readonly openedAt: number
  /** As the last check found it. */
  authorized: AuthorizedRequest
  /** The context of that check; `undefined` before the first one after the opening. */
  checkedWith: GatewayContext | undefined
  pingedAt: number
  /** Whether the caller has sent something since the last ping. */
  isAlive: boolean
  /** It is closed once the requests in flight are done. */
  isLeaving: boolean
  closingAt: number | undefined
  closeReason: CloseReason | undefined
  readonly writer: TurnWriter
  /** The memory of notifications that the caller has not read. */
  readonly notifications: BufferedBytes
  readonly usage: NotificationUsage
  readonly messages: SocketMessages
  readonly subscriber: ConnectionSubscriber
  readonly reader: MessageReader
}

/** The messages of one connection. */
export interface SocketMessages {
  /** Those that wait, because too many are in flight. */
  readonly queue: Buffer[]
  readonly open: Set<OpenMessage>
  /** How many were handled. */
  count: number
  /** Bytes of responses that the caller has not read. */
  unflushed: number
  /** When the caller must have read each of those responses, in their order. */
  readonly deadlines: number[]
  /** Nothing is read, because too many are in flight. */
  isPaused: boolean
  /** No more are handled, and those in flight complete. */
  isStopped: boolean
  /** When a call that keeps the connection open was free last. */
  keptAliveAt: number
}

/** A message in flight. */
export interface OpenMessage {
  readonly context: RequestContext
  readonly gateway: GatewayContext
  isSent: boolean
}

/** The state that the WebSockets of a gateway share. */
export interface SocketServerState {
  readonly library: WebSocketServer
  /** The current context, which a reload replaces. */
  readonly gateway: () => GatewayContext
  readonly add: (connection: SocketConnection) => void
  /** Call this when a connection has closed and its usage is counted. */
  readonly remove: (connection: SocketConnection) => void
  readonly counts: ConnectionCounts
  readonly countNotifications: (network: Network, kind: SubscriptionKind, notifications: number) => void
}
