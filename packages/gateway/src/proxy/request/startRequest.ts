import type { IncomingMessage, ServerResponse } from 'node:http'
import { dropAllBytes } from '../../lib/memoryBudget.ts'
import { getRequestId } from '../http/getRequestId.ts'
import { getDurationMs } from './endRequest.ts'
import type { GatewayContext } from './gatewayContext.ts'
import { meterDisconnected } from './meterRequest.ts'
import type { RequestContext } from './requestContext.ts'

/** Creates the context of a request, and stops its reads when its caller disconnects. */
export const startRequest = (
  gateway: GatewayContext,
  request: IncomingMessage,
  response: ServerResponse,
): RequestContext => {
  const context: RequestContext = {
    request,
    response,
    requestId: getRequestId(gateway.auth.clientIp, request),
    startedAt: performance.now(),
    facts: {
      network: undefined,
      tenant: undefined,
      chainId: undefined,
      method: undefined,
      calls: undefined,
      methods: undefined,
      block: undefined,
      limitHeaders: undefined,
      reason: undefined,
      metered: false,
    },
    buffered: { most: gateway.limits.maxBufferedBytes, held: 0, share: undefined, over: false },
    gone: false,
    cancel: undefined,
  }
  const { connections } = gateway.server
  connections.start(request)
  gateway.inFlight += 1
  response.on('close', () => {
    connections.finish(request)
    gateway.inFlight -= 1
    dropAllBytes(context.buffered)
    if (response.writableFinished) return
    context.gone = true
    context.cancel?.()
    meterDisconnected(gateway, context)
    const { network, tenant } = context.facts
    gateway.log({
      event: 'disconnected',
      requestId: context.requestId,
      ...(network === undefined ? {} : { network }),
      ...(tenant === undefined ? {} : { keyId: tenant.record.id }),
      durationMs: getDurationMs(context),
    })
  })
  return context
}
