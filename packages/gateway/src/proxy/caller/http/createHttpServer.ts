import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { describeFault } from '../../../errors/faultLog.ts'
import { mayBeProxy } from '../../../lib/ip/clientIp.ts'
import type { Connections } from '../../http/connections.ts'
import { createBoundedServer, createRequestStart } from '../../http/createBoundedServer.ts'
import type { ServerConfig } from '../../http/createBoundedServer.ts'
import { createProxyWarning } from '../../http/proxyWarning.ts'
import { rejectBrokenHttp } from '../../http/rejectBrokenHttp.ts'
import type { GatewayContext } from '../../request/gatewayContext.ts'
import type { SocketServer } from '../webSocket/createSocketServer.ts'
import { handleRequest } from './handleRequest.ts'
import type { Expectation } from './handleRequest.ts'

/** The HTTP server of a gateway. */
export interface HttpServer {
  readonly server: Server
  /** The open connections, WebSockets included. */
  readonly sockets: ReadonlySet<Socket>
}

/** Creates the HTTP server of a gateway. It does not listen. @param getGateway - Gets the current context, which a reload replaces. */
export const createHttpServer = (
  config: ServerConfig,
  connections: Connections,
  webSockets: SocketServer,
  getGateway: () => GatewayContext,
): HttpServer => {
  const server = createBoundedServer(config, (ip) => mayBeProxy(getGateway().auth.clientIp, ip), {
    // An `upgrade` listener alone would get every request with an `Upgrade` header, also a POST.
    shouldUpgradeCallback: webSockets.isUpgrade,
    // The Host header is not used here, and Node's own rejection of a missing one is not JSON-RPC.
    requireHostHeader: false,
    // A repeated header must be visible as such: two readers could each use a different one.
    joinDuplicateHeaders: true,
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    // Node removes its own listener before it emits `connect`. A reset after that must not end the process.
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  // A caller that has sent everything may still wait for its response.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on(config.tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) =>
    socket.on('end', () => connections.halfClosed(socket)),
  )
  const warnAboutProxy = createProxyWarning({ warn: (what) => getGateway().log({ event: 'warning', what }) })
  const startRequest = createRequestStart(connections)
  const serve =
    (expectation: Expectation) =>
    (request: IncomingMessage, response: ServerResponse): void => {
      warnAboutProxy(request, getGateway().auth.clientIp)
      startRequest(request, response, () => handleRequest(getGateway(), { request, response, expectation }))
    }
  server.on('request', serve('none'))
  server.on('checkContinue', serve('continue'))
  server.on('checkExpectation', serve('unknown'))
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    warnAboutProxy(request, getGateway().auth.clientIp)
    webSockets.handleUpgrade(request, socket, head)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => rejectBrokenHttp(error.code, socket, connections))
  // A connection that cannot be accepted (out of file handles) must not end the others.
  server.on('error', (error) =>
    getGateway().log({ event: 'fault', where: 'server', ...describeFault(error), count: 1 }),
  )
  // CONNECT has no response object, so it is handled as a malformed request.
  server.on('connect', (_, socket) => rejectBrokenHttp('CONNECT', socket, connections))
  return { server, sockets }
}
