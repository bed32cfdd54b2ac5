import type { IncomingMessage, ServerResponse } from 'node:http'
import { preflightHeaders } from '../http/cors.ts'
import { isJsonMediaType } from '../http/isJsonMediaType.ts'
import { parsePath } from '../http/parsePath.ts'
import { announcesTooMuch } from '../http/readBody.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { refusals } from '../refusal/refusals.ts'
import { admitKey } from './admitKey.ts'
import { answerCalls } from './answerCalls.ts'
import { answerHealth } from './answerHealth.ts'
import type { Answering } from './answering.ts'
import { beginExchange } from './beginExchange.ts'
import { finishExchange, pastBody, refuseExchange } from './finishExchange.ts'

/** How the caller asked to be told that it may send its body. */
export type Expectation = 'none' | 'continue' | 'unknown'

/**
 * Answers one HTTP request. The order of the checks is the contract: draining, path, HTTP method, media type, size, key,
 * network; then the body is parsed, and each call of it is checked and forwarded by itself.
 */
export const answerRequest = (
  answering: Answering,
  { request, response, expectation }: { request: IncomingMessage; response: ServerResponse; expectation: Expectation },
): void => {
  const exchange = beginExchange(answering, request, response)
  const refuse = (refusal: Refusal): void => refuseExchange(answering, exchange, refusal)
  if (expectation === 'unknown') {
    refuse(refusals.expectationFailed())
    return
  }
  if (announcesTooMuch(request, answering.limits.maxBodyBytes)) {
    refuse(refusals.bodyTooLarge(answering.limits.maxBodyBytes))
    return
  }
  if (expectation === 'continue') response.writeContinue()
  if (answering.draining()) {
    refuse(refusals.draining())
    return
  }
  const path = parsePath(request.url ?? '')
  if (path.kind === 'healthz' || path.kind === 'readyz') {
    answerHealth(answering, exchange, path.kind)
    return
  }
  if (request.method === 'OPTIONS') {
    const headers = preflightHeaders(request.headers['access-control-request-headers'])
    pastBody(answering, exchange, () => finishExchange(answering, exchange, { status: 204, headers }))
    return
  }
  if (path.kind === 'unknown') refuse(refusals.notFound())
  else if (request.method !== 'POST') refuse(refusals.httpMethod())
  else if (!isJsonMediaType(request.headers['content-type'])) refuse(refusals.contentType())
  else {
    const group = answering.groups[path.network]
    admitKey(answering, exchange, { at: path, proceed: () => answerCalls(answering, exchange, group) })
  }
}
