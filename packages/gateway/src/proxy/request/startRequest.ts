import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Answering } from './gatewayContext.ts'
import type { Exchange } from './requestContext.ts'
import { getRequestId } from '../http/getRequestId.ts'
import { dropAllBytes } from '../../lib/memoryBudget.ts'
import { durationOf, whoOf } from './logRequest.ts'
import { meterGone } from './meterCalls.ts'

/** Books a request in, and ends its reads when its caller goes away. */
export const beginExchange = (answering: Answering, request: IncomingMessage, response: ServerResponse): Exchange => {
  const exchange: Exchange = {
    request,
    response,
    requestId: getRequestId(answering.clientIp, request),
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
    kept: { most: answering.limits.maxKeptBytes, held: 0, share: undefined, over: false },
    gone: false,
    cancel: undefined,
  }
  answering.connections.begin(request)
  answering.underWay += 1
  response.on('close', () => {
    answering.connections.finish(request)
    answering.underWay -= 1
    dropAllBytes(exchange.kept)
    if (response.writableFinished) return
    exchange.gone = true
    exchange.cancel?.()
    meterGone(answering, exchange)
    answering.log({
      event: 'disconnected',
      requestId: exchange.requestId,
      ...whoOf(exchange),
      durationMs: durationOf(exchange),
    })
  })
  return exchange
}
