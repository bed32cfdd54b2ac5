import type { FailureKind } from '@keyrail/core'
import type { Rejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import { removeFrom } from '../../lib/removeFrom.ts'
import type { SendCall, SendCalls } from './callScope.ts'
import type { Received, UpstreamFault } from './postRequest.ts'
import { hasRoom } from './chooseUpstream.ts'
import { chooseCopyEnd, toAcceptance } from './broadcast.ts'
import { decideNext, failureRules } from './failureRules.ts'
import { endAll, failOpen, finish, getLeftMs, release, stopRun, takeEnd } from './forwardRun.ts'
import type { Run } from './forwardRun.ts'
import { getUnits } from './forwardedCall.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import type { GroupMember } from './groupMember.ts'
import { maxConfirmMs } from './nullResults.ts'
import { drawNext, pickNext } from './pickNext.ts'
import { queryUpstream } from './queryUpstream.ts'
import { readFailedBatch } from './readAttempt.ts'
import type { AttemptResult } from './readAttempt.ts'
import { readBatchEnds, readEnd } from './readEnds.ts'
import { observeAttempt, recordHealth, sendAttempt } from './sendAttempt.ts'
import type { Attempt } from './sendAttempt.ts'
import { openStream } from './streamRun.ts'
import { waitForRoom } from './waitForRoom.ts'
import { waitForSlot } from './waitForSlot.ts'
import { cheapRead, cheapReadTimeoutMs } from './health/watchHealth.ts'

/** How long a trial call, which finds out if an upstream works again, waits before it is sent to another upstream too. */
const trialMs = 1_000
const noop = (): void => {}
const onlyPlace: readonly number[] = [0]

/**
 * Forwards a call to a node, or several cheap reads in one batch.
 *
 * `failureRules` decides what follows a failure. Reads for which another node may have a better response are sent to the other upstreams,
 * one after the other, each at most once. A write is sent to another upstream only if the first cannot have run it. If all fail, the caller gets
 * the failure that says most about the call. A read alone is retried on the same upstream only if the connection broke and there is no other,
 * because a node may close an idle connection at any time.
 *
 * A cheap read alone without a response after `hedgeMs`, or by default after half of its time, is sent to another upstream too, and the first
 * response wins. Each time half of the rest has passed, it is sent to one more. An expensive read is sent to another upstream after half of its time
 * if the first does not even respond to a cheap read. Another write is never sent to two upstreams at the same time, and neither is a batch: one that takes
 * half of the time that is left is stopped, and sent to the next.
 *
 * With `copies`, a write is sent to several upstreams at once. The first acceptance is the result, and the others still get it.
 *
 * If the key or its owner has too many calls in flight, the calls wait in the key's queue, within their timeout.
 */
export const forward: SendCalls = (calls, scope, options, done) => {
  if (scope.group.queue.hasSlot(scope)) return forwardNow(calls, scope, options, done)
  return waitForSlot(scope, options, {
    run: (queued) => forwardNow(calls, scope, queued, done),
    reject: (rejection) => endAll(calls, rejection, done),
  })
}

/** Forwards a single call. */
export const forwardCall: SendCall = (call, scope, options, done) =>
  forward([call], scope, options, (result = rejections.upstreamBad(), member) => done(result, member))

const forwardNow: SendCalls = (calls, scope, options, done) => {
  const { group, keyId, ownerId } = scope
  const { deadlineMs = scope.timeoutMs, only, neededHead: seenHead, copies = 1 } = options
  const [call] = calls
  if (call === undefined) return noop
  const isBatch = calls.length > 1
  const { idempotent, expensive } = call.traits
  const units = getUnits(calls)
  const mayBeTrial = idempotent && !expensive && only === undefined && !isBatch
  const first = only ?? group.pick({ calls, units, keyId, ownerId, mayBeTrial, seenHead })
  if (first === undefined || (only !== undefined && !hasRoom(only, { calls, units })))
    return waitOrReject(calls, scope, options, done)
  group.queue.acquire(scope)
  const run: Run = {
    calls,
    scope,
    options,
    done,
    isBatch,
    isBroadcast: copies > 1,
    endsAt: performance.now() + deadlineMs,
    deadline: group.deadlines.start(deadlineMs, () => timeOut(run, first)),
    timer: undefined,
    isConfirming: false,
    tried: [],
    ends: calls.map(() => undefined),
    open: [],
    over: false,
    holdsSlot: true,
  }
  const isOnTrial = !isBatch && !first.health.isHealthy()
  start(run, first, isBatch ? [...calls.keys()] : onlyPlace, mayBeTrial)
  while (run.tried.length < copies && !run.over) {
    const next = pickNext(run, onlyPlace)
    if (next === undefined) break
    start(run, next.member, onlyPlace)
  }
  if (!run.over && (isBatch || (idempotent && only === undefined && group.several))) {
    const hedgeMs = isBatch || expensive ? undefined : group.getHedgeMs(first)
    const waitMs = Math.min(hedgeMs ?? deadlineMs / 2, isOnTrial && !expensive ? trialMs : Infinity)
    // Without `hedgeMs` half of the timeout has passed, which is more than slow.
    startTimer(run, waitMs, hedgeMs === undefined || isOnTrial)
  }
  return () => {
    if (!run.over) stopRun(run, 'aborted')
  }
}

/** Handles that no upstream may get calls: they wait if a budget can get room. */
const waitOrReject: SendCalls = (calls, scope, options, done) => {
  const { group } = scope
  const { only } = options
  const needs = { calls, units: getUnits(calls) }
  const reject = (rejection?: Rejection): void => {
    // Each call of a batch alone may fit into a budget, or find an upstream that offers its method.
    if (only === undefined && calls.length > 1) endAll(calls, undefined, done)
    else endAll(calls, rejection ?? (only === undefined ? group.explainNoPick(needs) : rejections.upstreamBusy()), done)
  }
  const room = group.drawRoom(needs, only)
  if (room !== undefined)
    return waitForRoom(scope, options, room, { run: (left) => forward(calls, scope, left, done), reject })
  reject()
  return noop
}

/** Sends calls to an upstream. @param places - Those of the calls. */
const start = (run: Run, member: GroupMember, places: readonly number[], mayBeTrial = false): void => {
  const { scope, options, isBatch } = run
  run.tried.push(member)
  const calls = isBatch ? places.flatMap((place) => run.calls[place] ?? []) : run.calls
  const mayStream = !isBatch && calls[0]?.traits.idempotent === true ? options.mayStream : undefined
  let hasEnded = false
  const attempt = sendAttempt(
    calls,
    { places, member, scope, options, isBatch, mayBeTrial, number: run.tried.length },
    {
      ended: (ended, fault, response) => {
        hasEnded = true
        removeFrom(run.open, ended)
        if (isBatch) endBatch(run, calls, ended, { fault, response })
        else endCall(run, ended, { fault, response })
      },
      large: mayStream && ((large, head, flow) => openStream(run, large, { head, flow, mayStream })),
    },
  )
  // It may have ended at once.
  if (!hasEnded) run.open.push(attempt)
}

const endCall = (run: Run, attempt: Attempt, received: Received): void => {
  const { calls, scope, tried, open } = run
  const [call] = calls
  if (call === undefined) return
  // Its stream was stopped, and its end is recorded.
  if (run.over && !run.isBroadcast) {
    release(run)
    return
  }
  const end = readEnd(call, attempt, scope, received)
  if (run.isBroadcast) {
    endCopy(run, call, end)
    return
  }
  const { idempotent, weight: units } = call.traits
  const isFirst = tried.length === 1 && open.length === 0
  const mayRepeat = isFirst && idempotent && end.isBroken === true && hasRoom(end.member, { calls: [call], units })
  goOn(run, takeEnd(run, 0, end) ? onlyPlace : [], mayRepeat ? end.member : undefined)
}

/** Takes the end of one of several copies of a write. The first acceptance is the result. */
const endCopy = (run: Run, call: ForwardedCall, end: AttemptResult): void => {
  if (run.over) {
    if (run.open.length === 0) stopRun(run, 'aborted')
    return
  }
  const accepted = toAcceptance(call, end)
  run.ends[0] = accepted ?? chooseCopyEnd(run.ends[0], end)
  if (accepted !== undefined) finish(run)
  else if (decideNext(end, { best: undefined, idempotent: false }) === 'next') goOn(run, onlyPlace)
  else if (run.open.length === 0) finish(run)
}

const endBatch = (run: Run, sent: readonly ForwardedCall[], attempt: Attempt, received: Received): void => {
  const found = readBatchEnds(sent, attempt, run.scope.group, received)
  if (found === undefined) failBatch(run, attempt, readFailedBatch(received), received.fault)
  else
    goOn(
      run,
      attempt.places.filter((place, index) => {
        const end = found[index]
        // The node may respond to the call alone.
        if (end?.kind === 'batchTooLarge') return false
        return end === undefined || takeEnd(run, place, end)
      }),
    )
}

/** Sends a batch that failed as a whole to another upstream. If there is none, or if the node rejects it as a batch, its calls are left. */
const failBatch = (run: Run, attempt: Attempt, kind: FailureKind, fault?: UpstreamFault): void => {
  const { member, places } = attempt
  observeAttempt(attempt, kind)
  // There is no more room for the single calls.
  if (fault === 'noRoom')
    for (const place of places)
      run.ends[place] ??= { kind, isRejectedBeforeRun: false, member, result: rejections.upstreamBusy() }
  const { about } = failureRules[kind]
  const isSentOn = goOn(run, about === 'node' || about === 'load' ? places : [])
  // It counts only if another node is tried: a node may reject a batch and still respond to each call of it.
  if (isSentOn && fault !== 'unsent') recordHealth(attempt, kind)
}

/**
 * Sends calls to one more upstream, or ends the run if there is none and nothing is in flight. If a budget is the only obstacle, the calls wait for it.
 * @param places - The calls that another upstream may have better responses to.
 * @param last - The upstream that may get them once more, if there is no other.
 * @param mayWait - Whether they may wait.
 * @returns Whether they were sent, or wait.
 */
const goOn = (run: Run, places: readonly number[], last?: GroupMember, mayWait = true): boolean => {
  const { ends, open } = run
  const other = pickNext(run, places)
  const room = other === undefined && mayWait && open.length === 0 ? drawNext(run, places) : undefined
  if (room !== undefined) {
    // Its deadline ends the wait too.
    void room.then((hasRoom) => {
      if (!run.over) goOn(run, places, last, hasRoom)
    })
    return true
  }
  const next = other ?? (last === undefined || places.length === 0 ? undefined : { member: last, places })
  if (next !== undefined) start(run, next.member, next.places)
  if (run.over) return next !== undefined
  if (places.length === 0 || open.length === 0) finish(run)
  else if ((next?.places ?? places).every((place) => ends[place]?.kind === 'null')) startConfirmTimer(run)
  // An attempt that follows a failed one has half of the time that is left before one more follows.
  else if (next !== undefined && run.timer !== undefined) startTimer(run, getLeftMs(run) / 2)
  return next !== undefined
}

/** Sends the calls to one more upstream after a while. @param isFailure - It counts as a failure of the upstreams that have not responded then. */
const startTimer = (run: Run, waitMs: number, isFailure = true): void => {
  clearTimeout(run.timer)
  run.timer = setTimeout(() => {
    const [attempt] = run.open
    if (attempt === undefined) return
    if (run.isBatch) giveUpBatch(run, attempt)
    else if (run.calls[0]?.traits.expensive === true) rescue(run, attempt, waitMs)
    else hedge(run, isFailure)
  }, waitMs)
}

const giveUpBatch = (run: Run, attempt: Attempt): void => {
  attempt.stop()
  removeFrom(run.open, attempt)
  failBatch(run, attempt, 'timeout')
}

const hedge = (run: Run, isFailure: boolean): void => {
  const next = pickNext(run, onlyPlace)
  if (next === undefined) return
  if (isFailure) failOpen(run)
  start(run, next.member, onlyPlace)
  if (!run.over) startTimer(run, getLeftMs(run) / 2)
}

/** Sends an expensive call to one more upstream, but only if its upstream does not even respond to a cheap read. */
const rescue = (run: Run, attempt: Attempt, waitMs: number): void => {
  void queryUpstream(attempt.member.upstream, cheapRead, Math.min(waitMs / 2, cheapReadTimeoutMs)).then((response) => {
    const next = typeof response === 'string' && run.open.includes(attempt) ? pickNext(run, onlyPlace) : undefined
    if (next !== undefined) start(run, next.member, onlyPlace)
  })
}

/** Ends the wait for another upstream to confirm a `null`. */
const startConfirmTimer = (run: Run): void => {
  if (run.isConfirming) return
  run.isConfirming = true
  clearTimeout(run.timer)
  // Calls of a batch that are sent alone afterwards need time, too.
  const waitMs = run.isBatch ? Math.min(maxConfirmMs, getLeftMs(run) / 2) : maxConfirmMs
  run.timer = setTimeout(() => {
    failOpen(run)
    finish(run, 'timeout')
  }, waitMs)
}

const timeOut = (run: Run, member: GroupMember): void => {
  failOpen(run)
  if (run.over) {
    stopRun(run, 'timeout')
    return
  }
  const result = rejections.upstreamTimeout(run.scope.timeoutMs)
  for (let place = 0; place < run.calls.length; place += 1)
    takeEnd(run, place, { kind: 'timeout', isRejectedBeforeRun: false, member, result })
  finish(run, 'timeout')
}
