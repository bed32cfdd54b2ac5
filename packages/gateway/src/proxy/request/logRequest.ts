import type { Network } from '../../lib/network.ts'
import type { GatewayContext } from './gatewayContext.ts'
import type { RequestContext } from './requestContext.ts'

/** How long the request has been here, in milliseconds. */
export const durationOf = (context: RequestContext): number =>
  Math.round((performance.now() - context.startedAt) * 1000) / 1000

/** Where it was sent and by whom, as far as is known. */
export const whoOf = ({ network, tenant }: RequestContext): { network?: Network; keyId?: string } => ({
  ...(network === undefined ? {} : { network }),
  ...(tenant === undefined ? {} : { keyId: tenant.record.id }),
})

/** Tells the log how a request was answered, where it is told of requests. */
export const logRequest = (gateway: GatewayContext, context: RequestContext, status: number): void => {
  if (!gateway.logRequests) return
  // Of one shape whatever is known, as it is made for every request.
  gateway.log({
    event: 'request',
    requestId: context.requestId,
    network: context.network,
    keyId: context.tenant?.record.id,
    method: context.method,
    calls: context.items,
    status,
    reason: context.reason,
    durationMs: durationOf(context),
  })
}
