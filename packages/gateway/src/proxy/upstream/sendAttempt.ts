import type { SentCall } from '../../lib/createBreaker.ts'
import type { CallScope, SendOptions } from './callScope.ts'
import type { AttemptTrace } from '../requestTracer.ts'
import type { CallOutcome } from './health/callOutcome.ts'
import type { FlowControl, ResponseConsumer, UpstreamFault, UpstreamResponse } from './postRequest.ts'
import { failureRules } from './failureRules.ts'
import type { AttemptEnd } from './failureRules.ts'
import { getUnits, takeWireIds, toWireText } from './forwardedCall.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import type { GroupMember } from './groupMember.ts'

/** A call, or calls of a batch, that were sent to an upstream. */
export interface Attempt {
  /** `batch` for a batch. */
  readonly method: string
  /** Source text; `undefined` for a batch. */
  readonly params: string | undefined
  /** How many calls it is. */
  readonly calls: number
  /** Their places among the calls that are forwarded together. */
  readonly places: readonly number[]
  readonly member: GroupMember
  readonly ownerId: string
  /** The wire id of the first call. The ids of the others follow. */
  readonly firstId: number
  /** By `performance.now`. */
  readonly startedAt: number
  readonly tracked: SentCall
  readonly trace: AttemptTrace | undefined
  /** Stops the request. */
  stop: () => void
}

/** Where calls are sent, and how. */
export interface AttemptTarget {
  /** The places of the calls among those that are forwarded together. */
  readonly places: readonly number[]
  readonly member: GroupMember
  readonly scope: CallScope
  readonly options: SendOptions
  /** The calls are sent as a list, also if it is one. */
  readonly isBatch: boolean
  /** They may find out if an upstream works whose circuit breaker is open. */
  readonly mayBeTrial: boolean
  /** 1 for the first attempt at these calls. */
  readonly number: number
}

/** The callbacks of an attempt. */
export interface AttemptListener {
  /** Called once, unless the attempt was stopped or its response became a stream. It may be called before `sendAttempt` returns. */
  readonly ended: (attempt: Attempt, fault: UpstreamFault | undefined, response: UpstreamResponse | undefined) => void
  /** Called when the response grows large. `undefined` buffers it. */
  readonly large?:
    | ((attempt: Attempt, head: readonly Buffer[], flow: FlowControl) => ResponseConsumer | undefined)
    | undefined
}

const noop = (): void => {}
const batch = { method: 'batch', params: undefined }

/** Sends calls to an upstream once. */
export const sendAttempt = (
  calls: readonly ForwardedCall[],
  { places, member, scope, options, isBatch, mayBeTrial, number }: AttemptTarget,
  { ended, large }: AttemptListener,
): Attempt => {
  const { method, params } = (isBatch ? undefined : calls[0]) ?? batch
  const count = calls.length
  const firstId = takeWireIds(count)
  const tracked = member.health.sent(mayBeTrial)
  const { ownerId, budget } = scope
  const { network } = scope.group
  const trace = scope.trace?.attempt({ method, network, upstream: member.name, attempt: number, calls: count })
  const startedAt = performance.now()
  const attempt: Attempt = {
    method,
    params,
    calls: count,
    places,
    member,
    ownerId,
    firstId,
    startedAt,
    tracked,
    trace,
    stop: noop,
  }
  attempt.stop = member.upstream.post({
    body: toWireText(calls, firstId, isBatch),
    budget,
    sent: options.sent,
    headers: trace?.headers,
    calls: count,
    units: member.budget.getUnits(calls, getUnits(calls)),
    done: (fault, response) => {
      if (fault === 'unsent') member.health.markUnreachable()
      ended(attempt, fault, response)
    },
    large: large === undefined ? undefined : (head, flow) => large(attempt, head, flow),
  })
  return attempt
}

/** Records that the response became a stream. */
export const recordStream = (attempt: Attempt): void => {
  attempt.member.health.succeeded(attempt.tracked)
  observeAttempt(attempt, 'result')
}

/** Stops an attempt that has not ended. @param kind - `timeout`: its time was up. `aborted`: its response is not needed any more. */
export const stopAttempt = (attempt: Attempt, kind: 'timeout' | 'aborted'): void => {
  attempt.stop()
  observeAttempt(attempt, kind)
}

/** Records in the upstream's health how an attempt ended. */
export const recordHealth = (
  { member, ownerId, tracked }: Attempt,
  kind: AttemptEnd['kind'],
  expensive = false,
): void => {
  const about = kind === 'result' ? 'call' : failureRules[kind].about
  if (about === 'call') member.health.succeeded(tracked)
  // An expensive call can take long on a healthy node.
  else if (about === 'node' && !(kind === 'timeout' && expensive)) member.health.failed(tracked, ownerId)
}

/** Records how an attempt ended, all its calls alike. */
export const observeAttempt = (attempt: Attempt, kind: CallOutcome['kind'], retryAfterMs?: number): void => {
  attempt.trace?.end(kind)
  observe(attempt, kind, retryAfterMs)
}

/** Records how calls of an attempt ended. @param about - @default all its calls */
export const observe = (
  attempt: Attempt,
  kind: CallOutcome['kind'],
  retryAfterMs?: number,
  { method, params, calls }: Pick<CallOutcome, 'method' | 'params' | 'calls'> = attempt,
): void => {
  const { member, ownerId, startedAt } = attempt
  member.observe({ method, params, ownerId, calls, kind, latencyMs: performance.now() - startedAt, retryAfterMs })
}
