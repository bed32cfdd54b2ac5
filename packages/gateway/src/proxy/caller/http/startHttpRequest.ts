import { dropAllBytes } from '../../../lib/memoryBudget.ts'
import { getRequestId } from '../../http/getRequestId.ts'
import type { GatewayContext } from '../../request/gatewayContext.ts'
import type { Reply, RequestContext } from '../../request/requestContext.ts'
import { createRequestContext, disconnect } from '../../request/startRequest.ts'
import { skipBody } from './skipBody.ts'
import { writeResponse } from './writeResponse.ts'
import type { HttpExchange } from './writeResponse.ts'

/** Creates the context of an HTTP request, and stops its reads when its caller disconnects. */
export const startHttpRequest = (gateway: GatewayContext, exchange: HttpExchange): RequestContext => {
  const { request, response } = exchange
  const requestId = getRequestId(gateway.auth.clientIp, request)
  const identity = { caller: request, reply: createHttpReply(gateway, exchange), requestId }
  const context = createRequestContext(gateway, identity)
  gateway.inFlight += 1
  response.on('close', () => {
    endHttpRequest(gateway, context)
    if (!response.writableFinished) disconnect(gateway, context)
  })
  return context
}

/** Ends a request that got its response, or became a WebSocket. */
export const endHttpRequest = (gateway: GatewayContext, { buffered }: RequestContext): void => {
  gateway.inFlight -= 1
  dropAllBytes(buffered)
}

const never = (): boolean => false

const createHttpReply = (gateway: GatewayContext, exchange: HttpExchange): Reply => ({
  transport: 'http',
  streams: true,
  matchesIds: false,
  subscriptions: undefined,
  takeKeepAlive: never,
  afterBody: (context, then) => {
    if (exchange.request.complete) then()
    else skipBody(gateway, exchange.request, context, then)
  },
  send: (context, content) => writeResponse(gateway, exchange, context, content),
})
