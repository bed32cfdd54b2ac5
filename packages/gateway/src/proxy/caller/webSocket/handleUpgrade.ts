import { ServerResponse } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { Rejection } from '../../../errors/rejection.ts'
import { rejections } from '../../../errors/rejections.ts'
import { mayBeProxy } from '../../../lib/ip/clientIp.ts'
import { toIpBlock } from '../../../lib/ip/toIpBlock.ts'
import { getRequestPath } from '../../http/getRequestPath.ts'
import type { CallPath, Path } from '../../http/parsePath.ts'
import { closeGraceMs } from '../../http/rejectBrokenHttp.ts'
import { authorize, getClientIp } from '../../request/authorize.ts'
import { sendRejection } from '../../request/endRequest.ts'
import type { GatewayContext } from '../../request/gatewayContext.ts'
import type { AuthorizedRequest, Reply, RequestContext } from '../../request/requestContext.ts'
import { toLimitRejection } from '../../request/takeLimits.ts'
import { isRateUsedUp, withLimits } from '../../request/withLimits.ts'
import { endHttpRequest, startHttpRequest } from '../http/startHttpRequest.ts'
import { createSocketConnection } from './createSocketConnection.ts'
import type { SocketServerState } from './socketConnection.ts'
import { addProtocolToken } from './tokenProtocol.ts'

/** An HTTP request that asks for a WebSocket, after which its connection has no HTTP parser. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** Bytes that the caller sent after the request. */
  readonly head: Buffer
}

/**
 * Whether a request asks for a WebSocket at the URL of a network. All others are plain requests, also a POST with `Upgrade: h2c`, and one that follows requests on its connection that have no response yet.
 */
export const isUpgrade = (gateway: GatewayContext, request: IncomingMessage): boolean => {
  const { method, headers, socket } = request
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket' || !gateway.config.webSocket.enabled)
    return false
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0
  if (hasBody || !gateway.server.connections.isIdle(socket)) return false
  const path = getRequestPath(gateway.names, request)
  return path.kind === 'call' || (path.kind === 'unknown' && path.network !== undefined)
}

/**
 * Checks a request for a WebSocket like a POST, in the same order, and accepts it. A rejection is an HTTP response. The attempt takes one call from
 * the rate and none from the quota.
 */
export const handleUpgrade = (server: SocketServerState, upgrade: Upgrade): void => {
  const gateway = server.gateway()
  const { request } = upgrade
  const { context, response } = startUpgrade(gateway, upgrade)
  const path = getRequestPath(gateway.names, request)
  const rejection = checkHeader(gateway, request, path)
  if (rejection !== undefined || path.kind !== 'call') {
    sendRejection(gateway, context, rejection ?? rejections.notFound())
    return
  }
  addProtocolToken(request)
  authorize(gateway, context, path, (result) => {
    // The connection may have closed while the key was looked up.
    if (context.gone) return
    if ('reason' in result) sendRejection(gateway, context, result)
    else
      withLimits(gateway, result, { passed: 0, calls: 1 }, (taken) => {
        if (isRateUsedUp(taken)) sendRejection(gateway, context, toLimitRejection(taken, { index: 0 }, gateway))
        else accept(server, { ...upgrade, gateway, response, path, authorized: result })
      })
  })
}

// A closure in `startUpgrade` would keep the request and the response in memory as long as the connection is open.
const ignoreError = (): void => {}

/** Creates the context of an upgrade, with a response on its connection for a rejection, which closes the connection. */
const startUpgrade = (
  gateway: GatewayContext,
  { request, socket }: Upgrade,
): { readonly context: RequestContext; readonly response: ServerResponse } => {
  // Node has removed its own listener. A reset must not end the process.
  socket.on('error', ignoreError)
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket as Socket)
  response.on('finish', () => {
    socket.end()
    // Further bytes of the caller are read and dropped, because otherwise the system resets the connection and the response is lost.
    socket.resume()
    setTimeout(() => socket.destroy(), closeGraceMs).unref()
  })
  return { context: startHttpRequest(gateway, { request, response }), response }
}

/** Source: RFC 6455 section 4.1: 16 bytes in base64. */
const handshakeKey = /^[+/0-9A-Za-z]{22}==$/

const checkHeader = (
  { server: { draining } }: GatewayContext,
  { headers }: IncomingMessage,
  path: Path,
): Rejection | undefined => {
  if (headers.host?.includes(',') === true) return rejections.badHttp()
  if (headers.expect !== undefined) return rejections.expectationFailed()
  if (draining()) return rejections.draining()
  if (path.kind === 'unknown')
    return path.network === undefined ? rejections.notFound() : rejections.unknownNetwork(path.network, path.nearest)
  const isHandshake = handshakeKey.test(headers['sec-websocket-key'] ?? '') && headers['sec-websocket-version'] === '13'
  return isHandshake ? undefined : rejections.badHandshake()
}

const nothing = (): void => {}

/** The request that opened a WebSocket has been responded to. */
const openedReply: Reply = {
  transport: 'websocket',
  streams: false,
  matchesIds: true,
  subscriptions: undefined,
  takeKeepAlive: () => false,
  afterBody: nothing,
  send: nothing,
}

/**
 * The context of a request that opened a WebSocket, for later checks of its caller. They use the header only; the streams of the request and of the
 * response would take several kB for as long as the connection is open.
 */
const toOpeningContext = (context: RequestContext): RequestContext => {
  const { headers, url, socket } = context.caller
  return { ...context, caller: { headers, url, socket }, reply: openedReply }
}

/** An upgrade whose caller may have a WebSocket. */
interface AuthorizedUpgrade extends Upgrade {
  readonly gateway: GatewayContext
  readonly response: ServerResponse
  readonly path: CallPath
  readonly authorized: AuthorizedRequest
}

const accept = (server: SocketServerState, upgrade: AuthorizedUpgrade): void => {
  const { request, socket, head, gateway, response, path, authorized } = upgrade
  const { context, tenant } = authorized
  // During the lookup of the key, the gateway may have started to stop, or the caller may have disconnected.
  if (gateway.server.draining()) {
    sendRejection(gateway, context, rejections.draining())
    return
  }
  const ip = getClientIp(gateway, context.caller)
  const isShared = ip === undefined || mayBeProxy(gateway.auth.clientIp, ip)
  const owner = { keyId: tenant.record.id, ownerId: tenant.ownerId, ip: isShared ? undefined : toIpBlock(ip) }
  const release = server.counts.add(owner, gateway.config.webSocket)
  if (typeof release !== 'function') {
    sendRejection(gateway, context, release)
    return
  }
  response.detachSocket(socket as Socket)
  endHttpRequest(gateway, context)
  const opened: AuthorizedRequest = { ...authorized, context: toOpeningContext(context) }
  let isAccepted = false
  server.library.handleUpgrade(request, socket, head, (ws: WebSocket) => {
    isAccepted = true
    createSocketConnection(server, { ws, socket, authorized: opened, path, release })
  })
  if (isAccepted) return
  // The caller will send no more, or has gone.
  release()
  socket.destroy()
}
