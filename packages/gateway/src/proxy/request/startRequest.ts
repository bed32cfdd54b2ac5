import type { IncomingMessage, ServerResponse } from 'node:http'
import type { GatewayContext } from './gatewayContext.ts'
import type { RequestContext } from './requestContext.ts'
import { getRequestId } from '../http/getRequestId.ts'
import { dropAllBytes } from '../../lib/memoryBudget.ts'
import { durationOf, whoOf } from './logRequest.ts'
import { meterGone } from './meterCalls.ts'

/** Books a request in, and ends its reads when its caller goes away. */
export const startRequest = (
  gateway: GatewayContext,
  request: IncomingMessage,
  response: ServerResponse,
): RequestContext => {
  const context: RequestContext = {
    request,
    response,
    requestId: getRequestId(gateway.clientIp, request),
    startedAt: performance.now(),
    network: undefined,
    tenant: undefined,
    narrowing: undefined,
    chainId: undefined,
    method: undefined,
    items: undefined,
    labels: undefined,
    limitHeaders: undefined,
    metered: false,
    reason: undefined,
    kept: { most: gateway.limits.maxBufferedBytes, held: 0, share: undefined, over: false },
    gone: false,
    cancel: undefined,
  }
  gateway.connections.start(request)
  gateway.inFlight += 1
  response.on('close', () => {
    gateway.connections.finish(request)
    gateway.inFlight -= 1
    dropAllBytes(context.kept)
    if (response.writableFinished) return
    context.gone = true
    context.cancel?.()
    meterGone(gateway, context)
    gateway.log({
      event: 'disconnected',
      requestId: context.requestId,
      ...whoOf(context),
      durationMs: durationOf(context),
    })
  })
  return context
}
