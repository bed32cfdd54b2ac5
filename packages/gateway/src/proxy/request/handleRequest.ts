import type { IncomingMessage, ServerResponse } from 'node:http'
import { preflightHeaders } from '../http/cors.ts'
import { isJsonMediaType } from '../http/isJsonMediaType.ts'
import type { Path } from '../http/parsePath.ts'
import { isBodyTooLarge } from '../http/readBody.ts'
import { getRequestPath } from '../http/getRequestPath.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import { checkKey } from './checkKey.ts'
import { handleHealth } from './handleHealth.ts'
import type { GatewayContext } from './gatewayContext.ts'
import { startRequest } from './startRequest.ts'
import type { RequestContext } from './requestContext.ts'
import { endRequest, pastBody, sendRejectionBeforeBody, sendRejection } from './endRequest.ts'

/** How the caller asked to be told that it may send its body. */
export type Expectation = 'none' | 'continue' | 'unknown'

/**
 * Answers one HTTP request. The order of the checks is the contract:
 * 1. the header on its own: one Host at most, expectation, draining, path, HTTP method, media type, size;
 * 2. the key: its form and checksum, then whether it exists. Only unknown keys consume the limit of unknown keys;
 * 3. the key's record: its state and expiry, its network, its kind of path;
 * 4. the app's lists of IPs, origins and user agents; its tokens; its services;
 * 5. of a body that is not announced as small: whether the rate is known to be used up, before the body is stored and parsed;
 * 6. the body: its size if that was not announced, then its form. A body without calls takes one call from the rate;
 * 7. each call on its own: its form, its method, its params, the lists of methods and addresses;
 * 8. the rate, then the quota, each once for all calls that are left: the first that fit pass;
 * 9. the nodes.
 * A token alone, at `/{network}/v2`, replaces the key. It comes before 3, as its signature has to be verified first.
 *
 * Of several faults the caller gets the first in this order, also if the size was not announced. In 1 to 6 the whole request is
 * rejected with the status of its error. In 7 to 9 so is a single call; of a batch each call has its own response, and the status is
 * always 200. Health checks and preflights need no key: they get a response for any body within the size.
 */
export const handleRequest = (
  gateway: GatewayContext,
  { request, response, expectation }: { request: IncomingMessage; response: ServerResponse; expectation: Expectation },
): void => {
  const context = startRequest(gateway, request, response)
  const path = getRequestPath(request)
  if (request.headers.host?.includes(',') === true) {
    // RFC 9112 section 3.2: of two hosts, a proxy in front may have gone by the other.
    sendRejection(gateway, context, rejections.badHttp())
    return
  }
  // Before all else: what is said here is said to programs that speak JSON-RPC, and with CORS.
  if (path.kind === 'unknown' && expectation !== 'unknown' && isHandledByFallback(gateway, context)) return
  const early = rejectEarly(gateway, request, { path, expectation })
  if (early !== undefined) {
    // Without its 100 Continue the body may never come, so where the next request begins is not known.
    sendRejectionBeforeBody(gateway, context, expectation === 'none' ? early : { ...early, close: true })
    return
  }
  if (isBodyTooLarge(request, gateway.limits.maxBodyBytes)) {
    sendRejection(gateway, context, rejections.bodyTooLarge(gateway.limits.maxBodyBytes))
    return
  }
  if (expectation === 'continue') response.writeContinue()
  if (path.kind === 'healthz' || path.kind === 'readyz') handleHealth(gateway, context, path.kind)
  else if (path.kind === 'unknown' || request.method === 'OPTIONS') {
    const headers = preflightHeaders(request.headers['access-control-request-headers'])
    pastBody(gateway, context, () => endRequest(gateway, context, { status: 204, headers }))
  } else checkKey(gateway, context, path)
}

/** What is wrong with a request by its header alone, but for its size. An unknown path is none for a preflight, which any path has. */
const rejectEarly = (
  gateway: GatewayContext,
  request: IncomingMessage,
  { path, expectation }: { path: Path; expectation: Expectation },
): Rejection | undefined => {
  if (expectation === 'unknown') return rejections.expectationFailed()
  if (gateway.draining() || (gateway.leaving() && path.kind === 'readyz')) return rejections.draining()
  if (path.kind === 'healthz' || path.kind === 'readyz' || request.method === 'OPTIONS') return undefined
  if (path.kind === 'unknown') return rejections.notFound()
  if (request.method !== 'POST') return rejections.httpMethod()
  return isJsonMediaType(request.headers['content-type']) ? undefined : rejections.contentType()
}

const isHandledByFallback = (gateway: GatewayContext, { request, response, requestId }: RequestContext): boolean => {
  const { draining, elsewhere, leaving, connections } = gateway
  if (elsewhere === undefined || draining()) return false
  const keepAlive = response.shouldKeepAlive
  // Node then writes `Connection: close` with the response.
  if (leaving() && connections.isLast(request)) response.shouldKeepAlive = false
  const taken = elsewhere(request, response, requestId)
  if (!taken) response.shouldKeepAlive = keepAlive
  return taken
}
