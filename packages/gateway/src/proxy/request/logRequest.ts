import type { Network } from '../../lib/network.ts'
import type { Answering } from './gatewayContext.ts'
import type { Exchange } from './requestContext.ts'

/** How long the request has been here, in milliseconds. */
export const durationOf = (exchange: Exchange): number =>
  Math.round((performance.now() - exchange.startedAt) * 1000) / 1000

/** Where it was sent and by whom, as far as is known. */
export const whoOf = ({ network, tenant }: Exchange): { network?: Network; keyId?: string } => ({
  ...(network === undefined ? {} : { network }),
  ...(tenant === undefined ? {} : { keyId: tenant.record.id }),
})

/** Tells the log how a request was answered, where it is told of requests. */
export const logRequest = (answering: Answering, exchange: Exchange, status: number): void => {
  if (!answering.logRequests) return
  // Of one shape whatever is known, as it is made for every request.
  answering.log({
    event: 'request',
    requestId: exchange.requestId,
    network: exchange.network,
    keyId: exchange.tenant?.record.id,
    method: exchange.method,
    items: exchange.items,
    status,
    reason: exchange.reason,
    durationMs: durationOf(exchange),
  })
}
