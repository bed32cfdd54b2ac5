import type { IncomingMessage, ServerResponse } from 'node:http'
import { preflightHeaders } from '../http/cors.ts'
import { isJsonMediaType } from '../http/isJsonMediaType.ts'
import { parsePath } from '../http/parsePath.ts'
import type { Path } from '../http/parsePath.ts'
import { announcesTooMuch } from '../http/readBody.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { refusals } from '../refusal/refusals.ts'
import { admitKey } from './admitKey.ts'
import { answerCalls } from './answerCalls.ts'
import { answerHealth } from './answerHealth.ts'
import type { Answering } from './answering.ts'
import { beginExchange } from './beginExchange.ts'
import type { Exchange } from './exchange.ts'
import { finishExchange, pastBody, refuseBeforeSize, refuseExchange } from './finishExchange.ts'

/** How the caller asked to be told that it may send its body. */
export type Expectation = 'none' | 'continue' | 'unknown'

/**
 * Answers one HTTP request. The order of the checks is the contract: expectation, draining, path, HTTP method, media type, size,
 * then the key: known, its status, its network, its kind of path; then the body is parsed, and each call of it is checked and
 * forwarded by itself. Of several faults a caller is told the first in this order, also
 * where the size was not announced. Health and preflights need no key: they are answered for any body within the size.
 */
export const answerRequest = (
  answering: Answering,
  { request, response, expectation }: { request: IncomingMessage; response: ServerResponse; expectation: Expectation },
): void => {
  const exchange = beginExchange(answering, request, response)
  const path = parsePath(request.url ?? '')
  // Before all else: what is said here is said to programs that speak JSON-RPC, and with CORS.
  if (path.kind === 'unknown' && expectation !== 'unknown' && isElsewhere(answering, exchange)) return
  const early = refuseEarly(answering, request, { path, expectation })
  if (early !== undefined) {
    // Without its 100 Continue the body may never come, so where the next request begins is not known.
    refuseBeforeSize(answering, exchange, expectation === 'none' ? early : { ...early, close: true })
    return
  }
  if (announcesTooMuch(request, answering.limits.maxBodyBytes)) {
    refuseExchange(answering, exchange, refusals.bodyTooLarge(answering.limits.maxBodyBytes))
    return
  }
  if (expectation === 'continue') response.writeContinue()
  if (path.kind === 'healthz' || path.kind === 'readyz') answerHealth(answering, exchange, path.kind)
  else if (path.kind === 'unknown' || request.method === 'OPTIONS') {
    const headers = preflightHeaders(request.headers['access-control-request-headers'])
    pastBody(answering, exchange, () => finishExchange(answering, exchange, { status: 204, headers }))
  } else {
    const group = answering.groups[path.network]
    admitKey(answering, exchange, { at: path, proceed: () => answerCalls(answering, exchange, group) })
  }
}

/** What is wrong with a request by its header alone, but for its size. An unknown path is none for a preflight, which any path has. */
const refuseEarly = (
  answering: Answering,
  request: IncomingMessage,
  { path, expectation }: { path: Path; expectation: Expectation },
): Refusal | undefined => {
  if (expectation === 'unknown') return refusals.expectationFailed()
  if (answering.draining()) return refusals.draining()
  if (path.kind === 'healthz' || path.kind === 'readyz' || request.method === 'OPTIONS') return undefined
  if (path.kind === 'unknown') return refusals.notFound()
  if (request.method !== 'POST') return refusals.httpMethod()
  return isJsonMediaType(request.headers['content-type']) ? undefined : refusals.contentType()
}

const isElsewhere = ({ draining, elsewhere }: Answering, { request, response, requestId }: Exchange): boolean =>
  elsewhere !== undefined && !draining() && elsewhere(request, response, requestId)
