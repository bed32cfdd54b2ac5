import { describeFault } from '../../errors/faultLog.ts'
import type { RejectionReason } from '../../errors/rejection.ts'
import type { Outcome } from '../../usage/metering/meter.ts'
import { isFromStore } from '../upstream/callResult.ts'
import type { CallResult, StreamedResponse } from '../upstream/callResult.ts'
import { isRevert } from '../upstream/classifyFailure.ts'
import type { StreamEnd } from '../upstream/openResponseStream.ts'
import type { GatewayContext } from './gatewayContext.ts'
import { recordCalls, recordWhole } from './recordRequest.ts'
import type { CompletedCalls, WholeOutcome } from './recordRequest.ts'
import type { RequestContext } from './requestContext.ts'

/** The reasons that mean that the nodes failed, and not the caller. */
const upstreamFailures: ReadonlySet<RejectionReason> = new Set([
  'no_upstream',
  'upstream_busy',
  'upstream_timeout',
  'upstream_bad',
  'response_too_large',
  'chain_reorganized',
  'nodes_disagree',
])

const toOutcome = (result: CallResult, method: string): Outcome => {
  if ('reason' in result) return upstreamFailures.has(result.reason) ? 'upstreamFailed' : result.reason
  if (result.member === 'result') return 'succeeded'
  return isRevert(result.value, method) ? 'reverted' : 'nodeError'
}

/** How long a request has taken so far, in milliseconds. It counts for each call of a batch: the caller gets none of them earlier. */
const getElapsedMs = ({ startedAt }: RequestContext): number => performance.now() - startedAt

interface EqualCalls {
  readonly method: string
  readonly outcome: Outcome
  calls: number
  units: number
  bytes: number
  stored?: number
  readonly durationMs?: number
}

const count = (gateway: GatewayContext, context: RequestContext, counted: EqualCalls): void => {
  const { tenant, network, charged } = context.facts
  const { meter } = gateway.usage
  if (meter === undefined || tenant === undefined || network === undefined || tenant.testKey !== undefined) return
  const { method, outcome, calls, units, bytes, stored = 0, durationMs = getElapsedMs(context) } = counted
  try {
    const use = units === 0 && bytes === 0 ? undefined : { units, bytes, stored, day: charged?.day }
    meter.count(tenant.meteredKey, network, method, outcome, durationMs, calls, use)
  } catch (error) {
    // The response is ready, and does not depend on its metrics.
    gateway.log({ event: 'fault', where: 'meter', ...describeFault(error), count: 1 })
  }
}

/** What a call of the request was charged. */
const getUnits = ({ facts }: RequestContext, place: number): number => facts.charged?.units[place] ?? 0

const streamOutcomes = {
  complete: 'succeeded',
  broken: 'upstreamFailed',
  stopped: 'disconnected',
} as const satisfies Record<StreamEnd, Outcome>

/** Counts a call when its streamed result has ended. Its duration is that until the result started: the rest depends on the caller. */
const meterStream = (
  gateway: GatewayContext,
  context: RequestContext,
  { stream, completed }: StreamedResponse & { readonly completed: CompletedCalls },
): void => {
  const { method = 'other' } = context.facts
  const durationMs = getElapsedMs(context)
  stream.onEnd((end) => {
    const outcome = streamOutcomes[end]
    recordCalls(gateway, context, completed, [outcome])
    const units = getUnits(context, 0)
    count(gateway, context, { method, outcome, calls: 1, units, bytes: stream.bytes(), durationMs })
  })
}

/** Counts the calls of a request, each by its result, and records the request. */
export const meterCalls = (gateway: GatewayContext, context: RequestContext, completed: CompletedCalls): void => {
  const { facts } = context
  const { results } = completed
  if (facts.metered) return
  facts.metered = true
  // Only a single call can have a streamed result.
  const [first] = results
  if (first !== undefined && 'stream' in first) {
    meterStream(gateway, context, { ...first, completed })
    return
  }
  const outcomes: Outcome[] = []
  // Equal calls in a row are counted together: most batches are many calls of one method.
  let equal: EqualCalls | undefined
  for (const [place, result] of results.entries()) {
    const method = facts.methods?.[place] ?? facts.method ?? 'other'
    const outcome = toOutcome(result, method)
    const units = getUnits(context, place)
    const bytes = 'value' in result ? result.value.length : 0
    const stored = isFromStore(result) ? 1 : 0
    outcomes.push(outcome)
    if (equal?.method === method && equal.outcome === outcome) {
      equal.calls += 1
      equal.units += units
      equal.bytes += bytes
      equal.stored = (equal.stored ?? 0) + stored
      continue
    }
    if (equal !== undefined) count(gateway, context, equal)
    equal = { method, outcome, calls: 1, units, bytes, stored }
  }
  if (equal !== undefined) count(gateway, context, equal)
  recordCalls(gateway, context, completed, outcomes)
}

/**
 * Counts and records a request whose calls all have the same outcome, if its key is known: each call of a batch by its method, as if it had
 * been sent alone. A body that was not parsed counts as one call.
 */
export const meterWhole = (gateway: GatewayContext, context: RequestContext, whole: WholeOutcome): void => {
  const { outcome } = whole
  const { facts } = context
  if (facts.metered) return
  facts.metered = true
  recordWhole(gateway, context, whole)
  const { methods, method = 'other', calls = 1 } = facts
  const uses = (place: number) => ({ units: getUnits(context, place), bytes: 0 })
  if (methods === undefined) count(gateway, context, { method, outcome, calls, ...uses(0) })
  else
    for (const [place, one] of methods.entries())
      count(gateway, context, { method: one, outcome, calls: 1, ...uses(place) })
}

/** Counts the calls of a caller that disconnected, once it is known what they were charged. */
export const meterDisconnected = (gateway: GatewayContext, context: RequestContext, status: number): void =>
  meterWhole(gateway, context, { outcome: 'disconnected', rejection: undefined, status })
