import type { SentCall } from '../../lib/createBreaker.ts'
import type { CallScope, SendOptions } from '../call/callScope.ts'
import type { AttemptTrace } from '../requestTracer.ts'
import { rejections } from '../../errors/rejections.ts'
import type { FlowControl, ResponseConsumer } from './createUpstream.ts'
import { failureRules } from './failureRules.ts'
import type { AttemptEnd } from './failureRules.ts'
import { takeWireIds, toWireText } from './forwardedCall.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import type { GroupMember } from './groupMember.ts'
import { readAttempt } from './readAttempt.ts'
import type { AttemptResult } from './readAttempt.ts'

/** A call that was sent to an upstream. */
export interface Attempt {
  readonly call: ForwardedCall
  readonly member: GroupMember
  readonly ownerId: string
  readonly wireId: string
  /** By `performance.now`. */
  readonly startedAt: number
  readonly tracked: SentCall
  readonly trace: AttemptTrace | undefined
  /** Stops the request. */
  stop: () => void
}

/** The callbacks of an attempt. */
export interface AttemptListener {
  /** Called once, unless the attempt was stopped or its response became a stream. */
  readonly ended: (attempt: Attempt, result: AttemptResult) => void
  /** Called when the response grows large. `undefined` buffers it. */
  readonly large?:
    | ((attempt: Attempt, head: readonly Buffer[], flow: FlowControl) => ResponseConsumer | undefined)
    | undefined
}

const noop = (): void => {}

/**
 * Sends a call to an upstream once, and records how that ended in the upstream's health.
 * @param target.mayBeTrial - The call may find out if an upstream works whose circuit breaker is open.
 * @param target.number - 1 for the first attempt at this call.
 */
export const sendAttempt = (
  call: ForwardedCall,
  {
    member,
    scope,
    options,
    mayBeTrial,
    number,
  }: { member: GroupMember; scope: CallScope; options: SendOptions; mayBeTrial: boolean; number: number },
  { ended, large }: AttemptListener,
): Attempt => {
  const { method, params, traits } = call
  const wireId = String(takeWireIds(1))
  const tracked = member.health.sent(mayBeTrial)
  const { group, ownerId, budget, maxResponseBytes } = scope
  const { network } = group
  const trace = scope.trace?.attempt({ method, network, upstream: member.name, attempt: number, calls: 1 })
  const attempt: Attempt = { call, member, ownerId, wireId, startedAt: performance.now(), tracked, trace, stop: noop }
  attempt.stop = member.upstream.post({
    body: toWireText(call, wireId),
    budget,
    sent: options.sent,
    headers: trace?.headers,
    units: traits.weight,
    done: (fault, response) => {
      if (fault === 'unsent') {
        member.health.markUnreachable()
        observe(attempt, 'network')
        const result = rejections.noUpstream(network)
        ended(attempt, { kind: 'network', isRejectedBeforeRun: true, member, result })
        return
      }
      const { idempotent, expensive } = traits
      const result = readAttempt({ member, method, params, idempotent, wireId, maxResponseBytes }, fault, response)
      recordHealth(attempt, result.kind, { ownerId, expensive })
      observe(attempt, result.kind === 'null' ? 'result' : result.kind, result.retryAfterMs)
      ended(attempt, result)
    },
    large: large === undefined ? undefined : (head, flow) => large(attempt, head, flow),
  })
  return attempt
}

/** Records that the response became a stream. */
export const recordStream = (attempt: Attempt): void => {
  attempt.member.health.succeeded(attempt.tracked)
  observe(attempt, 'result')
}

/** Stops an attempt that has not ended. @param kind - `timeout`: its time was up. `aborted`: its response is not needed any more. */
export const stopAttempt = (attempt: Attempt, kind: 'timeout' | 'aborted'): void => {
  attempt.stop()
  observe(attempt, kind)
}

/** Records in the upstream's health how an attempt ended. */
export const recordHealth = (
  { member, tracked }: Pick<Attempt, 'member' | 'tracked'>,
  kind: AttemptEnd['kind'],
  { ownerId, expensive }: { ownerId: string; expensive: boolean },
): void => {
  const about = kind === 'result' ? 'call' : failureRules[kind].about
  if (about === 'call') member.health.succeeded(tracked)
  // An expensive call can take long on a healthy node.
  else if (about === 'node' && !(kind === 'timeout' && expensive)) member.health.failed(tracked, ownerId)
}

const observe = (
  { call: { method, params }, member, ownerId, startedAt, trace }: Attempt,
  kind: Parameters<GroupMember['observe']>[0]['kind'],
  retryAfterMs?: number,
): void => {
  trace?.end(kind)
  member.observe({ method, params, ownerId, calls: 1, kind, latencyMs: performance.now() - startedAt, retryAfterMs })
}
