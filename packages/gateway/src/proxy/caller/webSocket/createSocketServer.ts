import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { Network } from '../../../lib/network.ts'
import type { GatewayContext } from '../../request/gatewayContext.ts'
import type { SubscriptionKind } from '../../subscription/subscriptionHub.ts'
import { closeConnection, leaveConnection, terminateConnection } from './closeConnection.ts'
import { closeCodes } from './closeReasons.ts'
import { createConnectionCounts } from './createConnectionCounts.ts'
import { handleUpgrade, isUpgrade } from './handleUpgrade.ts'
import { maintainConnection } from './maintainConnection.ts'
import { recheck } from './recheck.ts'
import type { SocketConnection, SocketServerState } from './socketConnection.ts'
import { tokenProtocol } from './tokenProtocol.ts'

/** The WebSockets of a gateway now. */
export interface SocketState {
  readonly connections: ReadonlyMap<Network, number>
  /** Notifications since the gateway started, by network and kind. */
  readonly notifications: ReadonlyMap<Network, ReadonlyMap<SubscriptionKind, number>>
}

/** The WebSockets of a gateway. */
export interface SocketServer {
  /** For Node's `shouldUpgradeCallback`. */
  readonly isUpgrade: (request: IncomingMessage) => boolean
  /** For the `upgrade` event. */
  readonly handleUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Closes all connections of a network for a restart. */
  readonly restart: (network: Network) => void
  /** Closes all connections for a restart, spread over a time in milliseconds, so that not all callers connect again at once. */
  readonly drain: (overMs: number) => void
  /** Cuts off what is left. @returns How many requests were in flight. */
  readonly terminate: () => number
  /** Resolves when no connection is left. */
  readonly closed: () => Promise<void>
  readonly state: () => SocketState
}

/** How often a part of the connections is visited, in milliseconds. */
const visitMs = 100
/** How often each connection is visited, in milliseconds: changes of its key apply at most this much after the key store knows them. */
const everyMs = 1_500
/** At least so many connections close at a time, so that a few do not take the whole time. */
const minClosedAtOnce = 20

/**
 * Creates the WebSocket server of a gateway. It does not listen: the HTTP server passes upgrades to it.
 * @param getGateway - Gets the current context, which a reload replaces.
 */
export const createSocketServer = (getGateway: () => GatewayContext): SocketServer => {
  const library = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // It would cost 280 kB for each connection.
    perMessageDeflate: false,
    handleProtocols: (protocols) => (protocols.has(tokenProtocol) ? tokenProtocol : ([...protocols][0] ?? false)),
  })
  const connections = new Set<SocketConnection>()
  const notifications = new Map<Network, Map<SubscriptionKind, number>>()
  let onEmpty: (() => void) | undefined
  const server: SocketServerState = {
    library,
    gateway: getGateway,
    add: (connection) => void connections.add(connection),
    remove: (connection) => {
      connections.delete(connection)
      if (connections.size === 0) onEmpty?.()
    },
    counts: createConnectionCounts(),
    countNotifications: (network, kind, count) => {
      let kinds = notifications.get(network)
      if (kinds === undefined) notifications.set(network, (kinds = new Map()))
      kinds.set(kind, (kinds.get(kind) ?? 0) + count)
    },
  }

  // A few connections at a time, so that thousands of them do not stop everything else.
  let timer: NodeJS.Timeout | undefined
  let visits = connections.values()
  const visitSome = (): void => {
    if (connections.size === 0) {
      clearInterval(timer)
      timer = undefined
      return
    }
    const gateway = getGateway()
    for (let left = Math.ceil((connections.size * visitMs) / everyMs); left > 0; left -= 1) {
      const next = visits.next()
      if (next.done === true) {
        visits = connections.values()
        return
      }
      maintainConnection(gateway, next.value)
      recheck(gateway, next.value)
    }
  }

  let draining: NodeJS.Timeout | undefined
  const drain = (overMs: number): void => {
    clearInterval(draining)
    const steps = Math.max(1, Math.floor(overMs / visitMs))
    const atOnce = Math.max(minClosedAtOnce, Math.ceil(connections.size / steps))
    const leaveSome = (): void => {
      let left = atOnce
      // A connection that is closing is closed again until it has closed, which changes nothing.
      for (const connection of connections) {
        if (left === 0) return
        if (leaveConnection(connection)) left -= 1
      }
    }
    leaveSome()
    draining = setInterval(leaveSome, visitMs).unref()
  }

  return {
    isUpgrade: (request) => isUpgrade(getGateway(), request),
    handleUpgrade: (request, socket, head) => {
      library.options.maxPayload = getGateway().limits.maxBodyBytes
      handleUpgrade(server, { request, socket, head })
      timer ??= setInterval(visitSome, visitMs).unref()
    },
    restart: (network) => {
      for (const connection of connections)
        if (connection.path.network === network) closeConnection(connection, closeCodes.restart, 'restart')
    },
    drain,
    terminate: () => {
      clearInterval(draining)
      clearInterval(timer)
      let inFlight = 0
      for (const connection of connections) {
        inFlight += connection.messages.open.size
        terminateConnection(connection, 'restart')
      }
      return inFlight
    },
    closed: () =>
      new Promise((resolve) => {
        onEmpty = resolve
        if (connections.size === 0) resolve()
      }),
    state: () => {
      const counts = new Map<Network, number>()
      for (const { path } of connections) counts.set(path.network, (counts.get(path.network) ?? 0) + 1)
      return { connections: counts, notifications }
    },
  }
}
