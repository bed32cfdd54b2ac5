import { createBufferedBytes } from '../../lib/memoryBudget.ts'
import type { BufferShare } from '../../lib/memoryBudget.ts'
import { endTrace, getDurationMs } from './endRequest.ts'
import type { GatewayContext } from './gatewayContext.ts'
import { meterDisconnected } from './meterRequest.ts'
import type { RequestContext, RequestFacts } from './requestContext.ts'

/**
 * Creates the context of a request that starts now.
 * @param start.share - The share of the owner of its key, if that is known already.
 */
export const createRequestContext = (
  gateway: GatewayContext,
  { caller, reply, requestId }: Pick<RequestContext, 'caller' | 'reply' | 'requestId'>,
  share?: BufferShare,
): RequestContext => ({
  caller,
  reply,
  requestId,
  startedAt: performance.now(),
  facts: createFacts(),
  buffered: createBufferedBytes('requests', { most: gateway.limits.maxBufferedBytes }, share),
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
  ids: 'null',
  block: undefined,
  limitHeaders: undefined,
  reason: undefined,
  bodyBytes: undefined,
  charged: undefined,
  metered: false,
  isHealthCheck: false,
})

/** The status that nginx also logs. No caller sees it. */
const statusOfDisconnect = 499

/** Stops the reads of a request whose caller has disconnected, and logs it. */
export const disconnect = (gateway: GatewayContext, context: RequestContext): void => {
  context.gone = true
  context.cancel?.(() => meterDisconnected(gateway, context, statusOfDisconnect))
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
