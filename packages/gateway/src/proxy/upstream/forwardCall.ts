import { rejections } from '../../errors/rejections.ts'
import type { CallScope, SendCall, SendOptions } from '../call/callScope.ts'
import type { CallDone } from './callResult.ts'
import type { Deadline } from '../../lib/createDeadlines.ts'
import type { FlowControl, ResponseConsumer } from './createUpstream.ts'
import { toPickOptions } from './forwardedCall.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import type { GroupMember } from './groupMember.ts'
import { queryUpstream } from './queryUpstream.ts'
import { cheapRead, cheapReadTimeoutMs } from './watchHealth.ts'
import { openResponseStream } from './openResponseStream.ts'
import { chooseEnd, decideNext } from './failureRules.ts'
import { maxConfirmMs, rememberNull } from './nullResults.ts'
import { pickNext } from './pickNext.ts'
import type { AttemptResult } from './readAttempt.ts'
import type { NodeResponse } from './readResponse.ts'
import { readEnd, recordHealth, recordStream, sendAttempt, stopAttempt } from './sendAttempt.ts'
import type { Attempt } from './sendAttempt.ts'
import { waitForSlot } from './waitForSlot.ts'

/** How long a trial call, which finds out if an upstream works again, waits before it is sent to another upstream too. */
const trialMs = 1_000
const noop = (): void => {}

/**
 * Forwards a call to a node.
 *
 * `failureRules` decides what follows a failure. A read for which another node may have a better response is sent to the other upstreams,
 * one after the other, each at most once. It is retried on the same one only if the connection broke and there is no other, because a node may
 * close an idle connection at any time. A write is sent to another upstream only if the first cannot have run it. If all fail, the caller gets
 * the failure that says most about the call.
 *
 * A cheap read without a response after `hedgeMs`, or by default after half of its time, is sent to another upstream too, and the first
 * response wins. Each time half of the rest has passed, it is sent to one more. An expensive read is sent to another upstream after half of its time
 * if the first does not even respond to a cheap read. A write is never sent to two upstreams at the same time.
 *
 * If the key or its owner has too many calls in flight, the call waits in the key's queue, within its timeout.
 */
export const forwardCall: SendCall = (call, scope, options, done) => {
  if (scope.group.queue.hasSlot(scope)) return forwardNow(call, scope, options, done)
  return waitForSlot(scope, options, { run: (queued) => forwardNow(call, scope, queued, done), reject: done })
}

/** A call that has a slot of its key, and is forwarded now. */
interface Run {
  readonly call: ForwardedCall
  readonly scope: CallScope
  readonly options: SendOptions
  readonly done: CallDone
  /** By `performance.now`. */
  readonly endsAt: number
  readonly deadline: Deadline
  /** Sends the call to one more upstream, or ends the wait for a confirmed `null`. */
  timer: NodeJS.Timeout | undefined
  /** The upstreams that the call was sent to, the same one twice if it was retried there. */
  readonly tried: GroupMember[]
  /** The attempts in flight. */
  readonly open: Attempt[]
  /** The response for the caller if no better one comes. */
  best: AttemptResult | undefined
  over: boolean
  /** It holds its key's slot, until the call ends or its stream does. */
  holdsSlot: boolean
}

const forwardNow: SendCall = (call, scope, options, done) => {
  const { group, keyId, ownerId } = scope
  const { deadlineMs = scope.timeoutMs, only, neededHead: seenHead } = options
  const { idempotent, expensive, weight: units } = call.traits
  const maySendOver = idempotent && only === undefined && group.several
  const mayHedge = idempotent && !expensive && only === undefined
  const { method, params } = call
  const first = only ?? group.pick({ method, params, units, keyId, ownerId, mayBeTrial: mayHedge, seenHead })
  if (first === undefined) {
    done(group.explainNoPick(toPickOptions(call)))
    return noop
  }
  if (only !== undefined && !group.hasRoom(only, { calls: 1, units })) {
    done(rejections.upstreamBusy())
    return noop
  }
  group.queue.acquire(scope)
  const run: Run = {
    call,
    scope,
    options,
    done,
    endsAt: performance.now() + deadlineMs,
    deadline: group.deadlines.start(deadlineMs, () => timeOut(run, first)),
    timer: undefined,
    tried: [],
    open: [],
    best: undefined,
    over: false,
    holdsSlot: true,
  }
  const onTrial = !first.health.isHealthy()
  start(run, first, mayHedge)
  if (run.over || !maySendOver) return () => cancel(run)
  if (expensive) startRescueTimer(run, deadlineMs / 2)
  else {
    const hedgeMs = group.getHedgeMs(first)
    const waitMs = Math.min(hedgeMs ?? deadlineMs / 2, onTrial ? trialMs : Infinity)
    // Without `hedgeMs` half of the timeout has passed, which is more than slow.
    startHedgeTimer(run, { waitMs, isFailure: hedgeMs === undefined || onTrial })
  }
  return () => cancel(run)
}

const cancel = (run: Run): void => {
  if (!run.over) stopRun(run, 'aborted')
}

/** Sends the call to an upstream. */
const start = (run: Run, member: GroupMember, mayBeTrial = false): void => {
  const { call, scope, options } = run
  run.tried.push(member)
  const mayStream = call.traits.idempotent ? options.mayStream : undefined
  let hasEnded = false
  const attempt = sendAttempt(
    [call],
    { member, scope, options, isBatch: false, mayBeTrial, number: run.tried.length },
    {
      ended: (ended, fault, response) => {
        hasEnded = true
        remove(run.open, ended)
        const end = readEnd(call, ended, scope, { fault, response })
        if (run.over) release(run)
        else handleEnd(run, end)
      },
      large: mayStream && ((large, head, flow) => openStream(run, large, { head, flow, mayStream })),
    },
  )
  // It may have ended at once.
  if (!hasEnded) run.open.push(attempt)
}

const handleEnd = (run: Run, end: AttemptResult): void => {
  const { call } = run
  const { group } = run.scope
  const { idempotent } = call.traits
  if (decideNext(end, { best: run.best, idempotent }) === 'finish') {
    if (end.kind === 'null') rememberNull(group, call, end.member)
    complete(run, end)
    return
  }
  const isSentOver =
    run.tried.length === 1 &&
    run.open.length === 0 &&
    idempotent &&
    end.isBroken === true &&
    group.hasRoom(end.member, { calls: 1, units: call.traits.weight })
  run.best = chooseEnd(run.best, end)
  const next = pickOther(run) ?? (isSentOver ? end.member : undefined)
  if (next !== undefined) start(run, next)
  if (run.over) return
  if (run.open.length === 0) finish(run, run.best)
  else if (end.kind === 'null') startConfirmTimer(run)
  else if (next !== undefined && run.best.kind !== 'null') restartTimer(run)
}

const onlyPlace = [0]

const pickOther = ({ call, scope, options, tried, best }: Run): GroupMember | undefined =>
  pickNext({ calls: [call], scope, options, tried, ends: [best] }, onlyPlace)?.member

/** Sends the call to one more upstream after a while. */
const startHedgeTimer = (run: Run, { waitMs, isFailure }: { waitMs: number; isFailure: boolean }): void => {
  run.timer = setTimeout(() => {
    const next = pickOther(run)
    if (next === undefined || run.open.length === 0) return
    if (isFailure) failOpen(run)
    start(run, next)
    if (!run.over) startHedgeTimer(run, { waitMs: (run.endsAt - performance.now()) / 2, isFailure: true })
  }, waitMs)
}

/** Sends an expensive call to one more upstream after a while, but only if its upstream does not even respond to a cheap read. */
const startRescueTimer = (run: Run, waitMs: number): void => {
  run.timer = setTimeout(() => {
    const [attempt] = run.open
    if (attempt === undefined) return
    void queryUpstream(attempt.member.upstream, cheapRead, Math.min(waitMs / 2, cheapReadTimeoutMs)).then(
      (response) => {
        const next = typeof response === 'string' && run.open.includes(attempt) ? pickOther(run) : undefined
        if (next !== undefined) start(run, next)
      },
    )
  }, waitMs)
}

/** Gives an attempt that follows a failed one half of the time that is left before one more follows. */
const restartTimer = (run: Run): void => {
  if (run.timer === undefined) return
  clearTimeout(run.timer)
  const waitMs = (run.endsAt - performance.now()) / 2
  if (run.call.traits.expensive) startRescueTimer(run, waitMs)
  else startHedgeTimer(run, { waitMs, isFailure: true })
}

/** Ends the wait for another upstream to confirm a `null`. */
const startConfirmTimer = (run: Run): void => {
  clearTimeout(run.timer)
  run.timer = setTimeout(() => {
    failOpen(run)
    if (run.best !== undefined) finish(run, run.best, 'timeout')
  }, maxConfirmMs)
}

const timeOut = (run: Run, member: GroupMember): void => {
  failOpen(run)
  const result = rejections.upstreamTimeout(run.scope.timeoutMs)
  complete(run, { kind: 'timeout', isRejectedBeforeRun: false, member, result }, 'timeout')
}

/** Counts the attempts in flight as failures of their upstreams. */
const failOpen = ({ call, open }: Run): void => {
  for (const attempt of open) recordHealth(attempt, 'timeout', call.traits.expensive)
}

/** Ends the call with an attempt's end, or with a better one before it. */
const complete = (run: Run, end: AttemptResult, kind?: 'timeout'): void => {
  // A write that may have been run must not end with the failure of an earlier attempt, which says that it was not.
  finish(run, run.call.traits.idempotent ? chooseEnd(run.best, end) : end, kind)
}

const finish = (run: Run, { result, member }: AttemptResult, kind: 'timeout' | 'aborted' = 'aborted'): void => {
  stopRun(run, kind)
  run.done('value' in result ? maskResponse(result, member) : result, member)
}

/** Stops the timers and the attempts in flight. */
const stopRun = (run: Run, kind: 'timeout' | 'aborted'): void => {
  endRun(run, kind)
  release(run)
}

const endRun = (run: Run, kind: 'timeout' | 'aborted'): void => {
  run.over = true
  run.scope.group.deadlines.cancel(run.deadline)
  clearTimeout(run.timer)
  for (const attempt of run.open.splice(0)) stopAttempt(attempt, kind)
}

/** Returns the slot of the key. */
const release = (run: Run): void => {
  if (!run.holdsSlot) return
  run.holdsSlot = false
  run.scope.group.queue.release(run.scope)
}

/** Ends the call with a stream, if the response is a result that the caller accepts as one. */
const openStream = (
  run: Run,
  attempt: Attempt,
  { head, flow, mayStream }: { head: readonly Buffer[]; flow: FlowControl; mayStream: () => boolean },
): ResponseConsumer | undefined => {
  if (run.over) return undefined
  const opened = openResponseStream(String(attempt.firstId), { head, flow, idleMs: run.scope.timeoutMs })
  if (opened === undefined || !mayStream()) return undefined
  const { consumer, stream } = opened
  recordStream(attempt)
  remove(run.open, attempt)
  endRun(run, 'aborted')
  run.done({ member: 'result', stream }, attempt.member)
  const onEnd = (): void => release(run)
  if (!stream.started()) {
    stream.stop()
    onEnd()
  }
  return withOnEnd(consumer, onEnd)
}

const remove = <Item>(list: Item[], item: Item): void => {
  const index = list.indexOf(item)
  if (index !== -1) list.splice(index, 1)
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
