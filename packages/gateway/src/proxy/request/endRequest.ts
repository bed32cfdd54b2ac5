import { formatRejection } from '../../errors/rejection.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import { holdBytes } from '../../lib/memoryBudget.ts'
import { isBodyTooLarge, readBody } from '../http/readBody.ts'
import type { GatewayContext } from './gatewayContext.ts'
import { meterWhole } from './meterRequest.ts'
import type { MessageExchange, RequestContext } from './requestContext.ts'
import { toBatchParts } from './responseParts.ts'
import type { BodyPart } from './responseParts.ts'
import { writeRejection, writeResponse } from './writeResponse.ts'
import type { ResponseContent, WriteOptions } from './writeResponse.ts'

/** Writes the response and logs the request. */
export const endRequest = (gateway: GatewayContext, context: RequestContext, content: ResponseContent): void => {
  if (context.gone) return
  if (context.message === undefined) writeResponse(context, content, toWriteOptions(gateway, context))
  else context.message.send(content.body)
  logRequest(gateway, context, content.status)
}

/** Before the gateway stops, the last response on a connection closes it. */
const toWriteOptions = (
  {
    server: { connections, leaving, strictTransportSecurity, compression },
    limits: { writeTimeoutMs },
  }: GatewayContext,
  { request }: RequestContext,
  close = false,
): WriteOptions => ({
  close: close || (leaving() && connections.isLast(request)),
  writeTimeoutMs,
  strictTransportSecurity,
  compression,
})

/** Rejects a whole request, once the rest of its body has been read: left unread, it would be taken for the next request. */
export const sendRejection = (gateway: GatewayContext, context: RequestContext, rejection: Rejection): void => {
  const write = (): void => {
    meterWhole(gateway, context, { outcome: rejection.reason, rejection, status: rejection.status })
    if (context.gone) return
    context.facts.reason ??= rejection.reason
    if (context.message === undefined)
      writeRejection(context, rejection, toWriteOptions(gateway, context, rejection.close))
    else context.message.send(toMessageBody(context, context.message, rejection))
    logRequest(gateway, context, rejection.status)
  }
  if (rejection.close === true || context.message !== undefined || context.request.complete) write()
  else skipBody(gateway, context, write)
}

/**
 * The rejection of a message for each id in it, because its caller may wait for several responses at the same time. Calls without an id that can be
 * read share one, and so do all calls if there is no room for an error for each. Notifications get none.
 */
const toMessageBody = (
  { buffered, requestId }: RequestContext,
  { callIds }: MessageExchange,
  rejection: Rejection,
): string | readonly BodyPart[] | undefined => {
  if (typeof callIds === 'string') return formatRejection(rejection, callIds, requestId)
  const ids = [...new Set(callIds)].filter((id) => id !== undefined)
  if (ids.length === 0) return undefined
  const bytes = ids.length * formatRejection(rejection, 'null', requestId).length
  if (!holdBytes(buffered, bytes)) return formatRejection(rejection, 'null', requestId)
  const results = ids.map(() => rejection)
  return toBatchParts(results, ids, requestId)
}

/**
 * Rejects a whole request for a reason that comes before the size of its body: the response is the same for a body of any size. A body that is too
 * large is not read to its end, and closes the connection.
 */
export const sendRejectionBeforeBody = (
  gateway: GatewayContext,
  context: RequestContext,
  rejection: Rejection,
): void => {
  const { maxBodyBytes } = gateway.limits
  if (rejection.close === true || isBodyTooLarge(context.request, maxBodyBytes)) {
    sendRejection(gateway, context, { ...rejection, close: true })
    return
  }
  readBody(context.request, { maxBytes: maxBodyBytes, buffer: false }, (end) => {
    if (end !== 'gone') sendRejection(gateway, context, end === 'tooLarge' ? { ...rejection, close: true } : rejection)
  })
}

/** Reads a body without storing it. One that is too large closes the connection. */
export const skipBody = (gateway: GatewayContext, context: RequestContext, then: () => void): void => {
  const { maxBodyBytes } = gateway.limits
  readBody(context.request, { maxBytes: maxBodyBytes, buffer: false }, (end) => {
    if (end === 'tooLarge') sendRejection(gateway, context, rejections.bodyTooLarge(maxBodyBytes))
    else if (end !== 'gone') then()
  })
}

/** How long the request has taken so far, in milliseconds with three decimals. */
export const getDurationMs = ({ startedAt }: RequestContext): number =>
  Math.round((performance.now() - startedAt) * 1000) / 1000

/** Ends the trace of a request, if it has one. */
export const endTrace = ({ trace, facts }: RequestContext, status: number): void => {
  if (trace === undefined) return
  const { network, method, calls, reason } = facts
  trace.end({ status, network, method, calls, reason })
}

const logRequest = (gateway: GatewayContext, context: RequestContext, status: number): void => {
  endTrace(context, status)
  const { network, tenant, method, calls, reason, isHealthCheck } = context.facts
  if (!gateway.logRequests || isHealthCheck) return
  // Always the same members, so that all entries have one hidden class.
  gateway.log({
    event: 'request',
    requestId: context.requestId,
    network,
    keyId: tenant?.record.id,
    method,
    calls,
    status,
    reason,
    durationMs: getDurationMs(context),
  })
}
