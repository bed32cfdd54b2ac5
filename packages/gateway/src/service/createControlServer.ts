import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Server as TlsServer } from 'node:https'
import type { GatewayConfig } from '../proxy/gatewayOptions.ts'
import { rejectBrokenHttp } from '../proxy/http/rejectBrokenHttp.ts'
import { createConnections } from '../proxy/http/connections.ts'
import { createFramingCheck } from '../proxy/http/createFramingCheck.ts'
import { shareConnections } from '../proxy/http/shareConnections.ts'
import type { Bounds } from '../proxy/options/bounds.ts'

/** How often to look for requests that have timed out. */
const timeoutCheckMs = 1_000

type ServerBounds = Pick<Bounds, 'headersTimeoutMs' | 'requestTimeoutMs' | 'keepAliveTimeoutMs' | 'maxConnections'>

const setBounds = (server: Server, bounds: ServerBounds): void => {
  const { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, maxConnections } = bounds
  server.headersTimeout = headersTimeoutMs
  server.requestTimeout = requestTimeoutMs
  server.keepAliveTimeout = keepAliveTimeoutMs
  server.maxConnections = maxConnections
}

type Tls = GatewayConfig['tls']

/**
 * Applies other bounds and another certificate to a running server.
 * @param options.tls - Ignored by a server without TLS.
 */
export const updateControlServer = (server: Server, { bounds, tls }: { bounds: ServerBounds; tls?: Tls }): void => {
  setBounds(server, bounds)
  if (tls !== undefined && 'setSecureContext' in server) (server as TlsServer).setSecureContext(tls)
}

/**
 * Creates the server of the control API and the dashboard on their own port. It has the same connection and time limits as the networks.
 * @param options.tls - In PEM. @default http
 * @param options.isProxy - Whether an IP address is that of a proxy, which may use all connections.
 * @param options.isClosing - Whether the service is about to stop. Connections are then closed after each response.
 * @param options.handle - Called for each request, in the order of its connection.
 */
export const createControlServer = ({
  bounds,
  tls,
  isClosing = () => false,
  isProxy,
  handle,
}: {
  bounds: ServerBounds
  tls?: Tls
  isClosing?: () => boolean
  isProxy: (ip: string) => boolean
  handle: (request: IncomingMessage, response: ServerResponse) => void
}): Server => {
  const http = { connectionsCheckingInterval: timeoutCheckMs }
  const server =
    tls === undefined
      ? createServer(http)
      : createTlsServer({ ...http, ...tls, handshakeTimeout: bounds.headersTimeoutMs })
  setBounds(server, bounds)
  shareConnections(server, isProxy)
  const connections = createConnections()
  const start = (request: IncomingMessage, response: ServerResponse): void => {
    connections.start(request)
    response.on('close', () => connections.finish(request))
    if (isClosing() && connections.isLast(request)) response.shouldKeepAlive = false
    handle(request, response)
  }
  const checkFraming = createFramingCheck()
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const framing = checkFraming(request, response)
    if (framing === 'reject') rejectBrokenHttp(undefined, request.socket, connections)
    if (framing !== 'accept') return
    if (connections.canStart(request, response)) start(request, response)
    else connections.enqueue(request, () => start(request, response))
  })
  return server
}
