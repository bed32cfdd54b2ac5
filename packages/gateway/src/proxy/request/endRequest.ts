import { formatRejection } from '../../errors/rejection.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { holdBytes } from '../../lib/memoryBudget.ts'
import type { GatewayContext } from './gatewayContext.ts'
import { meterWhole } from './meterRequest.ts'
import type { RequestContext } from './requestContext.ts'
import { toBatchParts } from './responseParts.ts'
import type { ResponseContent } from './responseParts.ts'

/** Sends the response and logs the request. */
export const endRequest = (gateway: GatewayContext, context: RequestContext, content: ResponseContent): void => {
  if (context.gone) return
  context.reply.send(context, content)
  logRequest(gateway, context, content.status)
}

/** Rejects a whole request, once the rest of its body has been read. */
export const sendRejection = (gateway: GatewayContext, context: RequestContext, rejection: Rejection): void => {
  const send = (): void => {
    const { status, reason, headers, close } = rejection
    meterWhole(gateway, context, { outcome: reason, rejection, status })
    if (context.gone) return
    context.facts.reason ??= reason
    endRequest(gateway, context, { status, body: toRejectionBody(context, rejection), headers, close })
  }
  if (rejection.close === true) send()
  else context.reply.afterBody(context, send)
}

/**
 * The rejection of a whole request: one error, or one for each id in it if its caller may wait for several responses at the same time. Calls without
 * an id that can be read share one, and so do all calls if there is no room for an error for each. Notifications get none.
 */
const toRejectionBody = (
  { buffered, facts: { ids }, reply, requestId }: RequestContext,
  rejection: Rejection,
): ResponseContent['body'] => {
  if (!reply.matchesIds) return formatRejection(rejection, 'null', requestId)
  if (typeof ids === 'string') return formatRejection(rejection, ids, requestId)
  const distinct = [...new Set(ids)].filter((id) => id !== undefined)
  if (distinct.length === 0) return undefined
  const shared = formatRejection(rejection, 'null', requestId)
  if (!holdBytes(buffered, distinct.length * shared.length)) return shared
  const results = distinct.map(() => rejection)
  return toBatchParts(results, distinct, requestId)
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
