import type { MethodTraits } from '../method/createMethodPolicy.ts'
import { rejections } from '../../errors/rejections.ts'
import type { Rejection } from '../../errors/rejection.ts'
import type { CallDone, CallResult } from './callResult.ts'
import type { FlowControl, ResponseConsumer, ByteBudget, UpstreamResponse, UpstreamFault } from './createUpstream.ts'
import type { UpstreamGroup } from './createUpstreamGroup.ts'
import type { GroupMember } from './groupMember.ts'
import { openResponseStream } from './openResponseStream.ts'
import { isResponseStatus, readResponse } from './readResponse.ts'
import type { NodeResponse } from './readResponse.ts'

/** A call that may be forwarded. */
export interface ForwardedCall {
  /** A name from the method policy, so plain ASCII. */
  readonly method: string
  /** Source text. */
  readonly params: string | undefined
  readonly traits: MethodTraits
}

/** How to forward a call. */
export interface ForwardOptions {
  readonly group: UpstreamGroup
  /** The caller's key. The call waits in its queue if the key or its owner has too many calls in flight. */
  readonly keyId: string
  readonly ownerId: string
  /** For both attempts together, in milliseconds. */
  readonly timeoutMs: number
  /** What is left of the timeout, if some of it has passed. */
  readonly deadlineMs?: number | undefined
  /** How many bytes the response may have. */
  readonly budget: ByteBudget
  readonly maxResponseBytes: number
  /** Called each time the call is sent to a node. */
  readonly sent?: (() => void) | undefined
  /** The only upstream that may get the call. */
  readonly only?: GroupMember | undefined
  /** The newest block that the caller has seen. Upstreams that have it come first. */
  readonly seenHead?: number | undefined
  /** Called when a result grows large: whether it may become a stream. @default never */
  readonly mayStream?: (() => boolean) | undefined
}

let lastWireId = 0

/**
 * Takes consecutive ids for calls to nodes, and returns the first. Calls never keep their callers' ids: those can be anything, and two callers
 * may use the same one.
 */
export const takeWireIds = (count: number): number => {
  const first = lastWireId + count > 999_999_999 ? 1 : lastWireId + 1
  lastWireId = first + count - 1
  return first
}

/** Serializes a call for a node. Missing params become an empty list, because some nodes require one. */
export const toWireText = (call: ForwardedCall, wireId: string | number): string =>
  `{"jsonrpc":"2.0","id":${wireId},"method":"${call.method}","params":${call.params ?? '[]'}}`

/** How long a trial call, which finds out if an upstream works again, waits before it is sent to another upstream too. */
const trialMs = 1_000
const noop = (): void => {}

/**
 * Forwards a call to a node.
 *
 * A read that fails is retried once, on another upstream. It is retried on the same one only if the connection broke and there is no other,
 * because a node may close an idle connection at any time. A cheap read without a response after `hedgeMs`, or by default after half of its
 * time, is sent to a second upstream too, and the first response wins. A write is retried only if not a byte of it was sent, and is never sent
 * to two upstreams.
 *
 * If the key or its owner has too many calls in flight, the call waits in the key's queue, within its timeout.
 * @param done - Called once, and not after the returned function was called.
 * @returns A function that stops the call.
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
  const {
    group,
    ownerId,
    timeoutMs,
    deadlineMs = timeoutMs,
    budget,
    maxResponseBytes,
    sent,
    only,
    mayStream,
    seenHead,
  } = options
  const { idempotent, expensive } = call.traits
  let over = false
  /** It holds its key's slot, until the call ends or its stream does. */
  let holdsSlot = true
  let streaming = false
  let attempts = 0
  let open = 0
  let stopFirst = noop
  let stopSecond = noop
  let hedge: NodeJS.Timeout | undefined
  /** Why the attempt that has ended failed, while the other is in flight. */
  let failure: Rejection | undefined

  const release = (): void => {
    if (!holdsSlot) return
    holdsSlot = false
    group.queue.release(options)
  }
  const finish = (result: CallResult, member?: GroupMember): void => {
    over = true
    group.deadlines.cancel(deadline)
    clearTimeout(hedge)
    if (!streaming) release()
    done(result, member)
  }
  const pickOther = (member: GroupMember): GroupMember | undefined =>
    only === undefined && attempts < 2 ? group.pick({ method: call.method, tried: [member], seenHead }) : undefined
  const handleFailure = (member: GroupMember, rejection: Rejection, next: GroupMember | undefined): void => {
    if (next !== undefined) attempt(next)
    else if (open > 0) failure = rejection
    else finish(failure ?? rejection, member)
  }
  const attempt = (member: GroupMember, tracked = member.health.sent(false)): void => {
    const wireId = String(takeWireIds(1))
    const isFirst = attempts === 0
    attempts += 1
    open += 1
    const stopOther = (): void => {
      if (open > 0) (isFirst ? stopSecond : stopFirst)()
    }
    const stop = member.upstream.post({
      body: toWireText(call, wireId),
      budget,
      sent,
      done: (fault, response) => {
        open -= 1
        if (over) {
          release()
          return
        }
        if (fault === 'unsent') {
          member.health.markUnreachable()
          handleFailure(member, rejections.noUpstream(group.network), pickOther(member))
          return
        }
        const result = toResult(fault, response, { wireId, maxResponseBytes })
        if ('value' in result) {
          member.health.succeeded(tracked)
          stopOther()
          finish(maskResponse(result, member), member)
        } else if (result.reason === 'response_too_large' || fault === 'noRoom') {
          stopOther()
          finish(result, member)
        } else {
          member.health.failed(tracked, ownerId)
          const same = fault === 'broken' && attempts < 2 ? member : undefined
          handleFailure(member, result, idempotent ? (pickOther(member) ?? same) : undefined)
        }
      },
      large:
        mayStream === undefined || !idempotent
          ? undefined
          : (head, flow): ResponseConsumer | undefined => {
              if (over) return undefined
              const opened = openStream(wireId, { head, flow, idleMs: timeoutMs, mayStream })
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
              return withOnEnd(opened.consumer, release)
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
  const mayHedge = idempotent && !expensive && only === undefined
  const first = only ?? group.pick({ method: call.method, mayBeTrial: mayHedge, seenHead })
  if (first === undefined) {
    done(rejections.noUpstream(group.network))
    return noop
  }
  group.queue.acquire(options)
  const onTrial = !first.health.isHealthy()
  const firstSent = first.health.sent(mayHedge)
  const deadline = group.deadlines.start(deadlineMs, () => {
    // An expensive call can take long on a healthy node.
    if (!expensive) first.health.failed(firstSent, ownerId)
    stopAll()
    done(rejections.upstreamTimeout(timeoutMs))
  })

  attempt(first, firstSent)
  if (!over && mayHedge && group.several) {
    const hedgeMs = group.getHedgeMs(first)
    const waitMs = Math.min(hedgeMs ?? deadlineMs / 2, onTrial ? trialMs : Infinity)
    hedge = setTimeout(() => {
      const other = pickOther(first)
      if (other === undefined || open === 0) return
      // Without `hedgeMs` half of the timeout has passed, which is more than slow.
      if (hedgeMs === undefined || onTrial) first.health.failed(firstSent, ownerId)
      attempt(other)
    }, waitMs)
  }
  return () => {
    if (!over) stopAll()
  }
}

/** Calls a function after a consumer got its last chunk. */
const withOnEnd = (consumer: ResponseConsumer, onEnd: () => void): ResponseConsumer => ({
  data: consumer.data,
  end: () => {
    consumer.end()
    onEnd()
  },
  fail: () => {
    consumer.fail()
    onEnd()
  },
})

/** Masks the upstream's secrets if the response is an error. */
export const maskResponse = (response: NodeResponse, { upstream }: GroupMember): NodeResponse =>
  response.member === 'error' ? { ...response, value: upstream.maskError(Buffer.from(response.value)) } : response

const openStream = (
  wireId: string,
  options: { head: readonly Buffer[]; flow: FlowControl; idleMs: number; mayStream: () => boolean },
): ReturnType<typeof openResponseStream> => {
  const opened = openResponseStream(wireId, options)
  return opened !== undefined && options.mayStream() ? opened : undefined
}

const toResult = (
  fault: UpstreamFault | undefined,
  response: UpstreamResponse | undefined,
  { wireId, maxResponseBytes }: { wireId: string; maxResponseBytes: number },
): NodeResponse | Rejection => {
  if (fault === 'tooLarge') return rejections.responseTooLarge(maxResponseBytes)
  if (fault === 'noRoom') return rejections.upstreamBusy()
  if (response === undefined) return rejections.upstreamBad()
  if (response.status === 429 || response.status === 503) return rejections.upstreamBusy()
  if (!isResponseStatus(response.status)) return rejections.upstreamBad()
  return readResponse(response.body, wireId) ?? rejections.upstreamBad()
}
