import type { IncomingMessage } from 'node:http'
import type { Rejection } from '../../../errors/rejection.ts'
import { rejections } from '../../../errors/rejections.ts'
import { preflightHeaders } from '../../http/cors.ts'
import { isJsonMediaType } from '../../http/isJsonMediaType.ts'
import type { Path } from '../../http/parsePath.ts'
import { isBodyTooLarge } from '../../http/readBody.ts'
import { getRequestPath } from '../../http/getRequestPath.ts'
import { authorize } from '../../request/authorize.ts'
import { endRequest, sendRejection } from '../../request/endRequest.ts'
import type { GatewayContext } from '../../request/gatewayContext.ts'
import type { RequestContext } from '../../request/requestContext.ts'
import type { ResponseContent } from '../../request/responseParts.ts'
import { receiveBody } from './receiveBody.ts'
import { sendRejectionBeforeBody, skipBody } from './skipBody.ts'
import { startHttpRequest } from './startHttpRequest.ts'
import type { HttpExchange } from './writeResponse.ts'

/** The expectation in the caller's `Expect` header. */
export type Expectation = 'none' | 'continue' | 'unknown'

/**
 * Handles one HTTP request. The order of the checks is part of the contract:
 * 1. the header (`checkHeader`): one Host at most, expectation, draining, path, HTTP method, media type; then the announced size;
 * 2. the key (`authorize`): its form and checksum, then whether it exists. Only unknown keys consume the limit of unknown keys;
 * 3. the key's record: its state and expiry, its network, its kind of path;
 * 4. the app's lists of IPs, origins and user agents; its tokens; its services;
 * 5. the rate (`receiveBody`), for a body that is not announced as small: if the rate is known to be used up, the body is neither stored nor parsed;
 * 6. the body: its size if that was not announced, then its form. A body without calls takes one call from the rate;
 * 7. each call on its own (`checkCall`): its form, its method, its params, the lists of methods and addresses;
 * 8. the rate, then the quota (`takeLimits`), each once for all remaining calls: the first that fit pass;
 * 9. the nodes.
 * A token without a key, at `/{network}/v2`, is verified before 3.
 *
 * If several checks would fail, the caller gets the first in this order, also if the size was not announced. In 1 to 6 the whole request is
 * rejected with the status of its error. In 7 to 9 so is a single call, and a batch of which the
 * rate or the quota grants no call; in other batches each call has its own response, and the status is 200. Health checks and preflights need no key: they get a response for any body within the size.
 */
export const handleRequest = (
  gateway: GatewayContext,
  exchange: HttpExchange & { readonly expectation: Expectation },
): void => {
  const { request, response, expectation } = exchange
  const { connections } = gateway.server
  connections.start(request)
  response.on('close', () => connections.finish(request))
  const context = startHttpRequest(gateway, exchange)
  if (request.headers.host?.includes(',') === true) {
    // RFC 9112 section 3.2: a proxy in front may have used the other one of two hosts.
    sendRejection(gateway, context, rejections.badHttp())
    return
  }
  const path = getRequestPath(gateway.names, request)
  context.facts.isHealthCheck = path.kind === 'healthz' || path.kind === 'readyz'
  // Before the other checks, which respond as JSON-RPC and with CORS.
  if (path.kind === 'unknown' && expectation !== 'unknown' && handleByFallback(gateway, exchange, context)) return
  const rejection = checkHeader(gateway, request, { path, expectation })
  if (rejection !== undefined) {
    // A caller that waits for 100 Continue may never send its body, so the start of the next request is unknown.
    sendRejectionBeforeBody(
      gateway,
      request,
      context,
      expectation === 'none' ? rejection : { ...rejection, close: true },
    )
    return
  }
  if (isBodyTooLarge(request, gateway.limits.maxBodyBytes)) {
    sendRejection(gateway, context, rejections.bodyTooLarge(gateway.limits.maxBodyBytes))
    return
  }
  if (expectation === 'continue') response.writeContinue()
  if (path.kind === 'healthz' || path.kind === 'readyz') handleHealth(gateway, request, context, path.kind)
  else if (path.kind === 'unknown' || request.method === 'OPTIONS') handlePreflight(gateway, request, context)
  else {
    startTrace(gateway, context)
    authorize(gateway, context, path, (result) => {
      context.trace?.step('admission', context.startedAt)
      if ('reason' in result) sendRejection(gateway, context, result)
      else receiveBody(gateway, request, result)
    })
  }
}

const startTrace = ({ config: { tracer } }: GatewayContext, context: RequestContext): void => {
  if (tracer === undefined) return
  const { headers } = context.caller
  context.trace = tracer.start(context, headers['traceparent'] === undefined ? undefined : headers)
}

/** Checks a request by its header, except for its size. Preflights are accepted on any path, health checks with any HTTP method. */
const checkHeader = (
  { server: { draining, leaving } }: GatewayContext,
  request: IncomingMessage,
  { path, expectation }: { path: Path; expectation: Expectation },
): Rejection | undefined => {
  if (expectation === 'unknown') return rejections.expectationFailed()
  if (draining() || (leaving() && path.kind === 'readyz')) return rejections.draining()
  if (path.kind === 'healthz' || path.kind === 'readyz' || request.method === 'OPTIONS') return undefined
  if (path.kind === 'unknown')
    return path.network === undefined || request.method !== 'POST'
      ? rejections.notFound()
      : rejections.unknownNetwork(path.network, path.nearest)
  if (request.method !== 'POST') return rejections.httpMethod()
  return isJsonMediaType(request.headers['content-type']) ? undefined : rejections.contentType()
}

/** Passes a request to the service's fallback, such as its control API. @returns Whether the fallback handles it. */
const handleByFallback = (
  { server: { draining, fallback, leaving, connections } }: GatewayContext,
  { request, response }: HttpExchange,
  { requestId }: RequestContext,
): boolean => {
  if (fallback === undefined || draining()) return false
  const keepAlive = response.shouldKeepAlive
  // Node then writes `Connection: close` with the response.
  if (leaving() && connections.isLast(request)) response.shouldKeepAlive = false
  const handled = fallback(request, response, requestId)
  if (!handled) response.shouldKeepAlive = keepAlive
  return handled
}

const handlePreflight = (gateway: GatewayContext, request: IncomingMessage, context: RequestContext): void => {
  const cors = preflightHeaders(request.headers['access-control-request-headers'])
  skipBody(gateway, request, context, () => endRequest(gateway, context, { status: 204, corsHeaders: cors }))
}

/** Responds to `/healthz` (the process runs) and `/readyz` (calls can be served). */
const handleHealth = (
  gateway: GatewayContext,
  request: IncomingMessage,
  context: RequestContext,
  kind: 'healthz' | 'readyz',
): void => {
  const content = kind === 'healthz' ? toHealth(200, { status: 'ok' }) : getReadiness(gateway)
  skipBody(gateway, request, context, () => endRequest(gateway, context, content))
}

const toHealth = (status: number, body: object): ResponseContent => ({ status, body: JSON.stringify(body) })

const getReadiness = ({ networks: all, server: { degraded, details, notReady } }: GatewayContext): ResponseContent => {
  const networks = [...all.values()].filter(({ group }) => !group.isUsable()).map(({ group }) => group.network)
  const shown = details()
  const more = Object.keys(shown).length === 0 ? {} : { details: shown }
  // Otherwise one network without a node would take all others from every instance.
  if (networks.length === all.size)
    return toHealth(503, { status: 'unavailable', reason: 'no_upstream', networks, ...more })
  const reason = notReady()
  if (reason !== undefined) return toHealth(503, { status: 'unavailable', reason, ...more })
  if (networks.length > 0)
    return toHealth(200, { status: 'degraded', degraded: ['upstreams', ...degraded()], networks, ...more })
  const parts = degraded()
  return toHealth(
    200,
    parts.length === 0 ? { status: 'ok', ...more } : { status: 'degraded', degraded: parts, ...more },
  )
}
