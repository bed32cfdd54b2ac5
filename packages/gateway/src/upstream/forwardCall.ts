import type { MethodTraits } from '../method/createMethodPolicy.ts'
import { refusals } from '../refusal/refusals.ts'
import type { Refusal } from '../refusal/refusal.ts'
import type { ByteBudget, UpstreamAnswer, UpstreamFault } from './createUpstream.ts'
import type { GroupMember, UpstreamGroup } from './createUpstreamGroup.ts'
import { maskSecrets } from './maskSecrets.ts'
import { readAnswer } from './readAnswer.ts'
import type { NodeAnswer } from './readAnswer.ts'

/** How a call ended: with the node's answer, or with ours. */
export type CallEnd = NodeAnswer | Refusal

/** A call that may be forwarded. */
export interface ForwardedCall {
  /** A name from the policy's list, so plain ASCII. */
  readonly method: string
  /** Source text. */
  readonly params: string | undefined
  readonly traits: MethodTraits
}

let lastWireId = 0

/** Our own id, for every call anew: a caller's id may be anything, and two callers may use the same. */
export const nextWireId = (): string => {
  lastWireId = lastWireId >= 999_999_999 ? 1 : lastWireId + 1
  return String(lastWireId)
}

/** A call as it is sent. Where it had no params it gets an empty list: some nodes demand one. */
export const wireText = (call: ForwardedCall, wireId: string): string =>
  `{"jsonrpc":"2.0","id":${wireId},"method":"${call.method}","params":${call.params ?? '[]'}}`

/**
 * Carries one call to a node and brings back its answer.
 * A read that failed is tried once more, on another upstream (on the same one only where a connection broke and there is no other:
 * a node closes idle connections as it likes). What changes something is tried again only where not a byte of it was sent.
 * @param options.timeoutMs - For both tries together.
 * @param options.deadlineMs - What is left of it, where it began before this call.
 * @param options.budget - How many bytes the answer may have.
 * @param done - Called once, and not after the returned function was called, which stops it.
 */
export const forwardCall = (
  call: ForwardedCall,
  options: { group: UpstreamGroup; timeoutMs: number; deadlineMs?: number; budget: ByteBudget; maxAnswerBytes: number },
  done: (end: CallEnd) => void,
): (() => void) => {
  const { group, timeoutMs, deadlineMs = timeoutMs, budget, maxAnswerBytes } = options
  let stop = (): void => {}
  const finish = (end: CallEnd): void => {
    clearTimeout(timer)
    done(end)
  }
  const attempt = (member: GroupMember, last: boolean): void => {
    const wireId = nextWireId()
    const again = (refusal: Refusal, same: boolean): void => {
      const next = last ? undefined : (group.pick(member) ?? (same ? member : undefined))
      if (next === undefined) finish(refusal)
      else attempt(next, true)
    }
    stop = member.upstream.post({
      body: wireText(call, wireId),
      budget,
      done: (fault, answer) => {
        if (fault === 'unsent') {
          member.health.unreachable()
          again(refusals.noUpstream(group.network), false)
          return
        }
        const end = endOf(fault, answer, wireId, maxAnswerBytes)
        if ('value' in end)
          finish(end.member === 'error' ? { ...end, value: maskSecrets(end.value, member.upstream.secrets) } : end)
        else if (call.traits.idempotent && end.reason !== 'response_too_large') again(end, fault === 'broken')
        else finish(end)
      },
    })
  }
  const timer = setTimeout(() => {
    stop()
    done(refusals.upstreamTimeout(timeoutMs))
  }, deadlineMs)
  const first = group.pick()
  if (first === undefined) {
    clearTimeout(timer)
    done(refusals.noUpstream(group.network))
    return stop
  }
  attempt(first, false)
  return () => {
    clearTimeout(timer)
    stop()
  }
}

const endOf = (
  fault: UpstreamFault | undefined,
  answer: UpstreamAnswer | undefined,
  wireId: string,
  maxAnswerBytes: number,
): CallEnd => {
  if (fault === 'tooLarge') return refusals.responseTooLarge(maxAnswerBytes)
  if (answer === undefined) return refusals.upstreamBad()
  if (answer.status === 429 || answer.status === 503) return refusals.upstreamBusy()
  if (!mayHoldAnswer(answer.status)) return refusals.upstreamBad()
  return readAnswer(answer.body, wireId) ?? refusals.upstreamBad()
}

/** 2xx, and 4xx where it is about the call: some nodes send an RPC error so. What is about our own standing there is no caller's business. */
const mayHoldAnswer = (status: number): boolean =>
  (status >= 200 && status < 300) ||
  (status >= 400 &&
    status < 500 &&
    status !== 401 &&
    status !== 402 &&
    status !== 403 &&
    status !== 407 &&
    status !== 408)
