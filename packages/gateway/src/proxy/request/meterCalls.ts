import { faultCode } from '../../errors/faultLog.ts'
import type { Outcome } from '../../usage/metering/meter.ts'
import type { RefusalReason } from '../../errors/rejection.ts'
import type { CallEnd, StreamedAnswer } from '../upstream/callResult.ts'
import type { StreamEnd } from '../upstream/openResponseStream.ts'
import type { Answering } from './gatewayContext.ts'
import type { Exchange } from './requestContext.ts'

/** What failed behind the gateway. Its caller has had nothing for it, but where the answer was too large to be passed on. */
const failedBehind: ReadonlySet<RefusalReason> = new Set([
  'no_upstream',
  'upstream_busy',
  'upstream_timeout',
  'upstream_bad',
  'response_too_large',
])

/** What is counted of a call's end. */
const outcomeOf = (end: CallEnd): Outcome => {
  if (!('reason' in end)) return end.member === 'error' ? 'nodeError' : 'answered'
  return failedBehind.has(end.reason) ? 'upstreamFailed' : end.reason
}

/** How long a request has taken so far, in milliseconds. It is counted for each of its calls: a caller has nothing of an item before it has its batch. */
const elapsedMs = ({ startedAt }: Exchange): number => performance.now() - startedAt

/** Counts calls. */
const meterAlike = (
  answering: Answering,
  exchange: Exchange,
  {
    method,
    outcome,
    items,
    durationMs = elapsedMs(exchange),
  }: { method: string; outcome: Outcome; items: number; durationMs?: number },
): void => {
  const { tenant, network } = exchange
  const { meter } = answering
  if (meter === undefined || tenant === undefined || network === undefined || tenant.rehearsal !== undefined) return
  try {
    meter.count(tenant.record, network, method, outcome, durationMs, items)
  } catch (error) {
    // An answer that is ready does not wait for its figures.
    answering.log({ event: 'fault', where: 'meter', code: faultCode(error), count: 1 })
  }
}

const streamOutcomes = {
  whole: 'answered',
  broken: 'upstreamFailed',
  stopped: 'callerGone',
} as const satisfies Record<StreamEnd, Outcome>

/** Counts a call whose result is on its way once that has ended. How long it took until then was its caller's doing. */
const meterStream = (answering: Answering, exchange: Exchange, { stream }: StreamedAnswer): void => {
  const { method = 'other' } = exchange
  const durationMs = elapsedMs(exchange)
  stream.whenOver((end) =>
    meterAlike(answering, exchange, { method, outcome: streamOutcomes[end], items: 1, durationMs }),
  )
}

/** Counts the calls of a request, each by how it ended. */
export const meterCalls = (answering: Answering, exchange: Exchange, ends: readonly CallEnd[]): void => {
  if (exchange.metered) return
  exchange.metered = true
  // Only a call that is alone has a result on its way.
  const [first] = ends
  if (first !== undefined && 'stream' in first) {
    meterStream(answering, exchange, first)
    return
  }
  // Those alike in a row are counted at once: most batches are many calls of one method.
  let alike: { method: string; outcome: Outcome; items: number } | undefined
  for (const [index, end] of ends.entries()) {
    const method = exchange.labels?.[index] ?? exchange.method ?? 'other'
    const outcome = outcomeOf(end)
    if (alike?.method === method && alike.outcome === outcome) {
      alike.items += 1
      continue
    }
    if (alike !== undefined) meterAlike(answering, exchange, alike)
    alike = { method, outcome, items: 1 }
  }
  if (alike !== undefined) meterAlike(answering, exchange, alike)
}

/**
 * Counts a request whose calls all ended alike, where its key is known: each call of a batch by its method, as if it had been
 * sent on its own. A body whose calls were not read counts once.
 */
export const meterWhole = (answering: Answering, exchange: Exchange, outcome: Outcome): void => {
  if (exchange.metered) return
  exchange.metered = true
  const { labels, method = 'other', items = 1 } = exchange
  if (labels === undefined) meterAlike(answering, exchange, { method, outcome, items })
  else for (const label of labels) meterAlike(answering, exchange, { method: label, outcome, items: 1 })
}

/** Counts what a caller that has gone did not wait for. What goes on without it, a transaction on its way, is counted when it ends. */
export const meterGone = (answering: Answering, exchange: Exchange): void => {
  if (exchange.metered || exchange.cancel === undefined) return
  meterWhole(answering, exchange, 'callerGone')
}
