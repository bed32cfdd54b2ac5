import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Server as TlsServer } from 'node:https'
import type { GatewayConfig } from '../gatewayOptions.ts'
import type { Bounds } from '../options/bounds.ts'
import type { Connections } from './connections.ts'
import { createFramingCheck } from './createFramingCheck.ts'
import { rejectBrokenHttp } from './rejectBrokenHttp.ts'
import { shareConnections } from './shareConnections.ts'

/** How often to look for requests that have timed out. */
const timeoutCheckMs = 1_000

/** The part of a config that a server uses, and that a reload can change. */
export interface ServerConfig {
  readonly bounds: Pick<Bounds, 'headersTimeoutMs' | 'requestTimeoutMs' | 'keepAliveTimeoutMs' | 'maxConnections'>
  /** In PEM. @default http */
  readonly tls?: GatewayConfig['tls']
}

/** Applies other bounds and another certificate to a running server. A server without TLS ignores the certificate. */
export const updateServer = (server: Server, { bounds, tls }: ServerConfig): void => {
  server.headersTimeout = bounds.headersTimeoutMs
  server.requestTimeout = bounds.requestTimeoutMs
  server.keepAliveTimeout = bounds.keepAliveTimeoutMs
  server.maxConnections = bounds.maxConnections
  if (tls !== undefined && 'setSecureContext' in server) (server as TlsServer).setSecureContext(tls)
}

/**
 * Creates a server with limits of connections and of the time that a request takes.
 * @param isProxy - Whether an IP address is that of a proxy, which may use all connections.
 */
export const createBoundedServer = (
  { bounds, tls }: ServerConfig,
  isProxy: (ip: string) => boolean,
  options?: ServerOptions,
): Server => {
  const http = { connectionsCheckingInterval: timeoutCheckMs, ...options }
  const server =
    tls === undefined
      ? createServer(http)
      : createTlsServer({ ...http, ...tls, handshakeTimeout: bounds.headersTimeoutMs })
  updateServer(server, { bounds })
  shareConnections(server, isProxy)
  return server
}

/**
 * Creates the function that starts the requests of a server: each in the order of its connection, and only a few of a connection at once. It rejects
 * those with ambiguous framing.
 */
export const createRequestStart = (
  connections: Connections,
): ((request: IncomingMessage, response: ServerResponse, start: () => void) => void) => {
  const checkFraming = createFramingCheck()
  return (request, response, start) => {
    const framing = checkFraming(request, response)
    if (framing === 'reject') rejectBrokenHttp(undefined, request.socket, connections)
    else if (framing === 'accept') connections.enqueue(request, response, start)
  }
}
