import type { IncomingMessage, ServerResponse } from 'node:http'
import { createBufferedBytes, dropAllBytes } from '../../lib/memoryBudget.ts'
import { getRequestId } from '../http/getRequestId.ts'
import { endTrace, getDurationMs } from './endRequest.ts'
import type { GatewayContext } from './gatewayContext.ts'
import { meterDisconnected } from './meterRequest.ts'
import type { HttpRequestContext, RequestContext, RequestFacts } from './requestContext.ts'

/** Creates the context of a request, and stops its reads when its caller disconnects. */
export const startRequest = (
  gateway: GatewayContext,
  request: IncomingMessage,
  response: ServerResponse,
): HttpRequestContext => {
  const context = createHttpContext(gateway, request, response)
  const { connections } = gateway.server
  connections.start(request)
  gateway.inFlight += 1
  response.on('close', () => {
    connections.finish(request)
    gateway.inFlight -= 1
    dropAllBytes(context.buffered)
    if (!response.writableFinished) disconnect(gateway, context)
  })
  return context
}

/** Creates the context of an HTTP request. */
export const createHttpContext = (
  gateway: GatewayContext,
  request: IncomingMessage,
  response: ServerResponse,
): HttpRequestContext => ({
  request,
  response,
  message: undefined,
  requestId: getRequestId(gateway.auth.clientIp, request),
  startedAt: performance.now(),
  facts: createFacts(),
  buffered: createBufferedBytes('requests', { most: gateway.limits.maxBufferedBytes }),
  trace: undefined,
  gone: false,
  cancel: undefined,
})

/** Creates the facts of a new request. */
export const createFacts = (): RequestFacts => ({
  network: undefined,
  tenant: undefined,
  chainId: undefined,
  method: undefined,
  calls: undefined,
  methods: undefined,
  block: undefined,
  limitHeaders: undefined,
  reason: undefined,
  bodyBytes: undefined,
  metered: false,
  isHealthCheck: false,
})

/** The status that nginx also logs. No caller sees it. */
const statusOfDisconnect = 499

/** Stops the reads of a request whose caller has disconnected, and logs it. */
export const disconnect = (gateway: GatewayContext, context: RequestContext): void => {
  context.gone = true
  context.cancel?.()
  meterDisconnected(gateway, context, statusOfDisconnect)
  endTrace(context, statusOfDisconnect)
  const { network, tenant } = context.facts
  gateway.log({
    event: 'disconnected',
    requestId: context.requestId,
    ...(network === undefined ? {} : { network }),
    ...(tenant === undefined ? {} : { keyId: tenant.record.id }),
    durationMs: getDurationMs(context),
  })
}
