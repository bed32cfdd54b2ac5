import { getFaultCode } from '../../errors/faultLog.ts'
import type { Outcome } from '../../usage/metering/meter.ts'
import type { RejectionReason } from '../../errors/rejection.ts'
import type { CallResult, StreamedResponse } from '../upstream/callResult.ts'
import type { StreamEnd } from '../upstream/openResponseStream.ts'
import type { GatewayContext } from './gatewayContext.ts'
import type { RequestContext } from './requestContext.ts'

/** What failed behind the gateway. Its caller has had nothing for it, but where the answer was too large to be passed on. */
const failedBehind: ReadonlySet<RejectionReason> = new Set([
  'no_upstream',
  'upstream_busy',
  'upstream_timeout',
  'upstream_bad',
  'response_too_large',
])

/** What is counted of a call's end. */
const outcomeOf = (end: CallResult): Outcome => {
  if (!('reason' in end)) return end.member === 'error' ? 'nodeError' : 'succeeded'
  return failedBehind.has(end.reason) ? 'upstreamFailed' : end.reason
}

/** How long a request has taken so far, in milliseconds. It is counted for each of its calls: a caller has nothing of an item before it has its batch. */
const elapsedMs = ({ startedAt }: RequestContext): number => performance.now() - startedAt

/** Counts calls. */
const meterAlike = (
  gateway: GatewayContext,
  context: RequestContext,
  {
    method,
    outcome,
    items,
    durationMs = elapsedMs(context),
  }: { method: string; outcome: Outcome; items: number; durationMs?: number },
): void => {
  const { tenant, network } = context
  const { meter } = gateway
  if (meter === undefined || tenant === undefined || network === undefined || tenant.testKey !== undefined) return
  try {
    meter.count(tenant.record, network, method, outcome, durationMs, items)
  } catch (error) {
    // An answer that is ready does not wait for its figures.
    gateway.log({ event: 'fault', where: 'meter', code: getFaultCode(error), count: 1 })
  }
}

const streamOutcomes = {
  whole: 'succeeded',
  broken: 'upstreamFailed',
  stopped: 'disconnected',
} as const satisfies Record<StreamEnd, Outcome>

/** Counts a call whose result is on its way once that has ended. How long it took until then was its caller's doing. */
const meterStream = (gateway: GatewayContext, context: RequestContext, { stream }: StreamedResponse): void => {
  const { method = 'other' } = context
  const durationMs = elapsedMs(context)
  stream.whenOver((end) => meterAlike(gateway, context, { method, outcome: streamOutcomes[end], items: 1, durationMs }))
}

/** Counts the calls of a request, each by how it ended. */
export const meterCalls = (gateway: GatewayContext, context: RequestContext, ends: readonly CallResult[]): void => {
  if (context.metered) return
  context.metered = true
  // Only a call that is alone has a result on its way.
  const [first] = ends
  if (first !== undefined && 'stream' in first) {
    meterStream(gateway, context, first)
    return
  }
  // Those alike in a row are counted at once: most batches are many calls of one method.
  let alike: { method: string; outcome: Outcome; items: number } | undefined
  for (const [index, end] of ends.entries()) {
    const method = context.labels?.[index] ?? context.method ?? 'other'
    const outcome = outcomeOf(end)
    if (alike?.method === method && alike.outcome === outcome) {
      alike.items += 1
      continue
    }
    if (alike !== undefined) meterAlike(gateway, context, alike)
    alike = { method, outcome, items: 1 }
  }
  if (alike !== undefined) meterAlike(gateway, context, alike)
}

/**
 * Counts a request whose calls all ended alike, where its key is known: each call of a batch by its method, as if it had been
 * sent on its own. A body whose calls were not read counts once.
 */
export const meterWhole = (gateway: GatewayContext, context: RequestContext, outcome: Outcome): void => {
  if (context.metered) return
  context.metered = true
  const { labels, method = 'other', items = 1 } = context
  if (labels === undefined) meterAlike(gateway, context, { method, outcome, items })
  else for (const label of labels) meterAlike(gateway, context, { method: label, outcome, items: 1 })
}

/** Counts what a caller that has gone did not wait for. What goes on without it, a transaction on its way, is counted when it ends. */
export const meterGone = (gateway: GatewayContext, context: RequestContext): void => {
  if (context.metered || context.cancel === undefined) return
  meterWhole(gateway, context, 'disconnected')
}
