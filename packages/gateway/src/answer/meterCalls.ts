import type { Outcome } from '../meter/meter.ts'
import type { RefusalReason } from '../refusal/refusal.ts'
import type { CallEnd } from '../upstream/callEnd.ts'
import type { Answering } from './answering.ts'
import type { Exchange } from './exchange.ts'

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

/** Whether no upstream answered a call that was forwarded, so that it is not to be paid for. */
export const isUnanswered = (end: CallEnd): boolean =>
  'reason' in end && failedBehind.has(end.reason) && end.reason !== 'response_too_large'

/** Counts one call. The time is that of the whole request: a caller has nothing of an item before it has its batch. */
const meterCall = (answering: Answering, exchange: Exchange, method: string, outcome: Outcome): void => {
  const { tenant, network } = exchange
  const { meter } = answering
  if (meter === undefined || tenant === undefined || network === undefined || tenant.rehearsal !== undefined) return
  try {
    meter.count(tenant.record, network, method, outcome, performance.now() - exchange.startedAt)
  } catch {
    // An answer that is ready does not wait for its figures.
    answering.log({ event: 'fault', where: 'meter' })
  }
}

/** Counts the calls of a request, each by how it ended. */
export const meterCalls = (answering: Answering, exchange: Exchange, ends: readonly CallEnd[]): void => {
  if (exchange.metered) return
  exchange.metered = true
  for (const [index, end] of ends.entries())
    meterCall(answering, exchange, exchange.labels?.[index] ?? exchange.method ?? 'other', outcomeOf(end))
}

/** Counts a request that was refused as a whole: once, where its key is known. */
export const meterRefusal = (answering: Answering, exchange: Exchange, reason: RefusalReason): void => {
  if (exchange.metered) return
  exchange.metered = true
  meterCall(answering, exchange, 'other', reason)
}

/** Counts what a caller that has gone did not wait for. What goes on without it, a transaction on its way, is counted when it ends. */
export const meterGone = (answering: Answering, exchange: Exchange): void => {
  if (exchange.metered || exchange.cancel === undefined) return
  exchange.metered = true
  for (const label of exchange.labels ?? [exchange.method ?? 'other'])
    meterCall(answering, exchange, label, 'callerGone')
}
