import type { MethodTraits } from '../method/createMethodPolicy.ts'
import { rejections } from '../../errors/rejections.ts'
import type { Rejection } from '../../errors/rejection.ts'
import type { CallDone, CallResult } from './callResult.ts'
import type { ResponseFlow, ResponseTaker, ByteBudget, UpstreamResponse, UpstreamFault } from './createUpstream.ts'
import type { UpstreamGroup } from './createUpstreamGroup.ts'
import type { GroupMember } from './groupMember.ts'
import { mayHoldResponse } from './mayHoldResponse.ts'
import { openResponseStream } from './openResponseStream.ts'
import { readResponse } from './readResponse.ts'
import type { NodeResponse } from './readResponse.ts'

/** A call that may be forwarded. */
export interface ForwardedCall {
  /** A name from the policy's list, so plain ASCII. */
  readonly method: string
  /** Source text. */
  readonly params: string | undefined
  readonly traits: MethodTraits
}

/** How a call is to be carried. */
export interface ForwardOptions {
  readonly group: UpstreamGroup
  /** The caller's key, in whose line the call waits where it has too many in flight, or its owner has. */
  readonly keyId: string
  readonly ownerId: string
  /** For both tries together. */
  readonly timeoutMs: number
  /** What is left of it, where it began before this call. */
  readonly deadlineMs?: number | undefined
  /** How many bytes the answer may have. */
  readonly budget: ByteBudget
  readonly maxResponseBytes: number
  /** Called each time the call is sent to a node. */
  readonly sent?: (() => void) | undefined
  /** The one upstream that may be asked. */
  readonly only?: GroupMember | undefined
  /** Asked when a result grows large: whether it may end as a stream. @default never */
  readonly mayStream?: (() => boolean) | undefined
}

let lastWireId = 0

/** The first of so many ids of our own in a row, for every call anew: a caller's id may be anything, and two callers may use the same. */
export const takeWireIds = (count: number): number => {
  const first = lastWireId + count > 999_999_999 ? 1 : lastWireId + 1
  lastWireId = first + count - 1
  return first
}

/** A call as it is sent. Where it had no params it gets an empty list: some nodes demand one. */
export const wireText = (call: ForwardedCall, wireId: string | number): string =>
  `{"jsonrpc":"2.0","id":${wireId},"method":"${call.method}","params":${call.params ?? '[]'}}`

/** How long the one call that finds out whether an upstream answers again waits for it alone. */
const trialMs = 1_000
const nothing = (): void => {}

/**
 * Carries one call to a node and brings back its answer.
 * A read that failed is tried once more, on another upstream (on the same one only where a connection broke and there is no other:
 * a node closes idle connections as it likes). A light read that has no answer after `hedgeMs`, or else after half its time, is
 * asked of another upstream too, and the first answer counts. What changes something is tried again only where not a byte of it was
 * sent, and never asked of two.
 *
 * Where its key or its owner has too many calls in flight it waits for one of them to end, within its time.
 * @param done - Called once, and not after the returned function was called, which stops it.
 */
export const forwardCall = (call: ForwardedCall, options: ForwardOptions, done: CallDone): (() => void) => {
  const { group, timeoutMs, deadlineMs = timeoutMs } = options
  if (group.queue.hasSlot(options)) return forwardNow(call, options, done)
  return group.queue.enqueue(options, {
    timeoutMs: deadlineMs,
    run: (leftMs) => forwardNow(call, { ...options, deadlineMs: leftMs }, done),
    onReject: () => done(rejections.upstreamBusy()),
  })
}

const forwardNow = (call: ForwardedCall, options: ForwardOptions, done: CallDone): (() => void) => {
  const { group, ownerId, timeoutMs, deadlineMs = timeoutMs, budget, maxResponseBytes, sent, only, mayStream } = options
  const { idempotent, heavy } = call.traits
  let over = false
  /** Its key's turn is taken: until the call is over, or its stream. */
  let holding = true
  let streaming = false
  let tries = 0
  let open = 0
  let stopFirst = nothing
  let stopSecond = nothing
  let hedge: NodeJS.Timeout | undefined
  /** Why the try that has ended failed, while another is in flight. */
  let failure: Rejection | undefined

  const release = (): void => {
    if (!holding) return
    holding = false
    group.queue.release(options)
  }
  const finish = (end: CallResult, member?: GroupMember): void => {
    over = true
    group.deadlines.cancel(deadline)
    clearTimeout(hedge)
    if (!streaming) release()
    done(end, member)
  }
  const elsewhere = (member: GroupMember): GroupMember | undefined =>
    only === undefined && tries < 2 ? group.pick(member) : undefined
  const failed = (member: GroupMember, rejection: Rejection, next: GroupMember | undefined): void => {
    if (next !== undefined) attempt(next)
    else if (open > 0) failure = rejection
    else finish(failure ?? rejection, member)
  }
  const attempt = (member: GroupMember, tracked = member.health.sent(false)): void => {
    const wireId = String(takeWireIds(1))
    const isFirst = tries === 0
    tries += 1
    open += 1
    const stopOther = (): void => {
      if (open > 0) (isFirst ? stopSecond : stopFirst)()
    }
    const stop = member.upstream.post({
      body: wireText(call, wireId),
      budget,
      sent,
      done: (fault, answer) => {
        open -= 1
        if (over) {
          release()
          return
        }
        if (fault === 'unsent') {
          member.health.unreachable()
          failed(member, rejections.noUpstream(group.network), elsewhere(member))
          return
        }
        const end = endOf(fault, answer, { wireId, maxResponseBytes })
        if ('value' in end) {
          member.health.succeeded(tracked)
          stopOther()
          finish(masked(end, member), member)
        } else if (end.reason === 'response_too_large' || fault === 'noRoom') {
          stopOther()
          finish(end, member)
        } else {
          member.health.failed(tracked, ownerId)
          const same = fault === 'broken' && tries < 2 ? member : undefined
          failed(member, end, idempotent ? (elsewhere(member) ?? same) : undefined)
        }
      },
      large:
        mayStream === undefined || !idempotent
          ? undefined
          : (head, flow): ResponseTaker | undefined => {
              if (over) return undefined
              const opened = openLarge(wireId, { head, flow, idleMs: timeoutMs, mayStream })
              if (opened === undefined) return undefined
              open -= 1
              member.health.succeeded(tracked)
              stopOther()
              streaming = true
              finish({ member: 'result', stream: opened.stream }, member)
              if (!opened.stream.started()) {
                opened.stream.stop()
                release()
              }
              return takenTo(opened.taker, release)
            },
    })
    if (isFirst) stopFirst = stop
    else stopSecond = stop
  }
  const stopAll = (): void => {
    over = true
    group.deadlines.cancel(deadline)
    clearTimeout(hedge)
    stopFirst()
    stopSecond()
    release()
  }
  const mayFail = idempotent && !heavy && only === undefined
  const first = only ?? group.pick(undefined, mayFail)
  if (first === undefined) {
    done(rejections.noUpstream(group.network))
    return nothing
  }
  group.queue.acquire(options)
  const onTrial = !first.health.sound()
  const firstSent = first.health.sent(mayFail)
  const deadline = group.deadlines.start(deadlineMs, () => {
    // A heavy call may take its time without the node being the worse for it.
    if (!heavy) first.health.failed(firstSent, ownerId)
    stopAll()
    done(rejections.upstreamTimeout(timeoutMs))
  })

  attempt(first, firstSent)
  if (!over && mayFail && group.several) {
    const waitMs = Math.min(group.hedgeMs ?? deadlineMs / 2, onTrial ? trialMs : Infinity)
    hedge = setTimeout(() => {
      const other = elsewhere(first)
      if (other === undefined || open === 0) return
      // Not the same as slow: half of its time is gone.
      if (group.hedgeMs === undefined || onTrial) first.health.failed(firstSent, ownerId)
      attempt(other)
    }, waitMs)
  }
  return () => {
    if (!over) stopAll()
  }
}

/** A taker that tells when it has all it gets. */
const takenTo = (taker: ResponseTaker, ended: () => void): ResponseTaker => ({
  data: taker.data,
  end: () => {
    taker.end()
    ended()
  },
  fail: () => {
    taker.fail()
    ended()
  },
})

/** An answer as it may be seen by a caller. */
export const masked = (answer: NodeResponse, { upstream }: GroupMember): NodeResponse =>
  answer.member === 'error' ? { ...answer, value: upstream.maskError(Buffer.from(answer.value)) } : answer

const openLarge = (
  wireId: string,
  options: { head: readonly Buffer[]; flow: ResponseFlow; idleMs: number; mayStream: () => boolean },
): ReturnType<typeof openResponseStream> => {
  const opened = openResponseStream(wireId, options)
  return opened !== undefined && options.mayStream() ? opened : undefined
}

const endOf = (
  fault: UpstreamFault | undefined,
  answer: UpstreamResponse | undefined,
  { wireId, maxResponseBytes }: { wireId: string; maxResponseBytes: number },
): NodeResponse | Rejection => {
  if (fault === 'tooLarge') return rejections.responseTooLarge(maxResponseBytes)
  if (fault === 'noRoom') return rejections.upstreamBusy()
  if (answer === undefined) return rejections.upstreamBad()
  if (answer.status === 429 || answer.status === 503) return rejections.upstreamBusy()
  if (!mayHoldResponse(answer.status)) return rejections.upstreamBad()
  return readResponse(answer.body, wireId) ?? rejections.upstreamBad()
}
