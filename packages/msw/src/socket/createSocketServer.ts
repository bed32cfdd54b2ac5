import { ws } from 'msw'
import type { WebSocketData, WebSocketHandler, WebSocketHandlerConnection, WebSocketLink } from 'msw'
import type { Chain } from '../chain/chain.ts'
import type { ProviderName } from '../faults/providers.ts'
import type { MatchedEndpoint } from '../http/matchEndpoint.ts'
import { createNotificationFaults } from './notificationFaults.ts'
import type { NotificationFault, NotificationFaultOptions } from './notificationFaults.ts'
import { createSubscriptions } from './subscriptions.ts'
import type { Notification, Subscriptions } from './subscriptions.ts'

/** The WebSocket side of a mock node. */
export interface SocketServer {
  readonly handlers: WebSocketHandler[]
  /** Sends the notifications of what happened on the chain, after the current task. */
  readonly notify: () => void
  readonly failNotifications: (fault: NotificationFault, options?: NotificationFaultOptions) => () => void
  readonly clearFaults: () => void
  readonly disconnect: (options?: DisconnectOptions) => void
  readonly connections: () => number
}

/** How connections end. */
export interface DisconnectOptions {
  /** The close code. 1006 is what a client sees when the network breaks. @default 1006 */
  readonly code?: number | undefined
  /** @default '' */
  readonly reason?: string | undefined
}

/** Options of {@link createSocketServer}. */
export interface SocketServerOptions {
  readonly endpoints: readonly MatchedEndpoint[]
  readonly provider: () => ProviderName
  readonly chain: () => Chain
  /** Responds to the calls in a message, as to those of an HTTP request. */
  readonly handleRequest: (request: Request, subscriptions: Subscriptions) => Promise<Response>
}

type Client = WebSocketHandlerConnection['client']

interface Connection {
  readonly client: Client
  readonly subscriptions: Subscriptions
  /** A notification that is sent after the next one. */
  held: string | undefined
}

/** One link for each URL: msw has a listener of its own for each link, and Node warns about more than ten. */
const links = new Map<string, WebSocketLink>()
const getLink = (url: RegExp): WebSocketLink => {
  const link = links.get(url.source) ?? ws.link(url)
  links.set(url.source, link)
  return link
}

/** Creates the WebSocket side of a mock node: the same calls as over HTTP, and subscriptions. */
export function createSocketServer({ endpoints, provider, chain, handleRequest }: SocketServerOptions): SocketServer {
  const connections = new Set<Connection>()
  const faults = createNotificationFaults()

  const send = (connection: Connection, { kind, params }: Notification): void => {
    const text = JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params })
    const taken = faults.take(kind)
    if (taken?.fault === 'drop') return
    if (taken?.fault === 'delay') {
      setTimeout(() => {
        if (connections.has(connection)) connection.client.send(text)
      }, taken.delayMs)
      return
    }
    if (taken?.fault === 'swap') {
      connection.held = text
      return
    }
    connection.client.send(text)
    if (taken?.fault === 'duplicate') connection.client.send(text)
    if (connection.held !== undefined) connection.client.send(connection.held)
    connection.held = undefined
  }
  const sendNotifications = (connection: Connection): void => {
    for (const notification of connection.subscriptions.takeNotifications()) send(connection, notification)
  }

  const close = (connection: Connection, { code = 1006, reason = '' }: DisconnectOptions): void => {
    connections.delete(connection)
    connection.client.close(code, reason)
  }

  const handleMessage = async (connection: Connection, url: string, data: WebSocketData): Promise<void> => {
    const { client, subscriptions } = connection
    const headers = { 'content-type': 'application/json' }
    const request = new Request(url, { method: 'POST', headers, body: data as string | Blob })
    const response = await handleRequest(request, subscriptions)
    if (!connections.has(connection)) return
    // Over HTTP the request would have failed without a response.
    if (response.type === 'error') {
      close(connection, {})
      return
    }
    client.send(await response.text())
    subscriptions.activate()
    sendNotifications(connection)
  }

  const accept = (endpoint: MatchedEndpoint, { client }: WebSocketHandlerConnection): void => {
    const url = client.url.href.replace(/^ws/, 'http')
    const connection: Connection = {
      client,
      subscriptions: createSubscriptions(chain(), () => provider() === 'keyrail'),
      held: undefined,
    }
    connections.add(connection)
    client.addEventListener('close', () => connections.delete(connection))
    const accepted = endpoint.checkSocket(url, provider()).then((rejection) => {
      // A service would reject the handshake, which msw cannot do.
      if (rejection !== undefined) close(connection, { code: 1008, reason: rejection })
    })
    client.addEventListener('message', ({ data }) => {
      void accepted.then(() => (connections.has(connection) ? handleMessage(connection, url, data) : undefined))
    })
  }

  let isScheduled = false
  return {
    handlers: endpoints.map((endpoint) =>
      getLink(endpoint.socketUrl).addEventListener('connection', (connection) => accept(endpoint, connection)),
    ),
    notify() {
      if (isScheduled) return
      isScheduled = true
      queueMicrotask(() => {
        isScheduled = false
        for (const connection of connections) sendNotifications(connection)
      })
    },
    failNotifications: (fault, options = {}) => faults.add(fault, options),
    clearFaults: faults.clear,
    disconnect(options = {}) {
      for (const connection of connections) close(connection, options)
    },
    connections: () => connections.size,
  }
}
