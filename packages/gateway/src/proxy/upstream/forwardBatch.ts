import type { FailureKind } from '@keyrail/core'
import { rejections } from '../../errors/rejections.ts'
import type { CallResult } from './callResult.ts'
import type { CallScope, SendOptions } from '../call/callScope.ts'
import type { UpstreamFault, UpstreamResponse } from './createUpstream.ts'
import { chooseEnd, decideNext, failureRules } from './failureRules.ts'
import { maskResponse } from './forwardCall.ts'
import { getUnits } from './forwardedCall.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import type { GroupMember } from './groupMember.ts'
import { maxConfirmMs, rememberNull } from './nullResults.ts'
import { pickNext } from './pickNext.ts'
import type { SentCalls } from './pickNext.ts'
import { readFailedBatch, readNodeResponse } from './readAttempt.ts'
import type { AttemptResult } from './readAttempt.ts'
import { readBatchResponse, readPlainBatch } from './readResponse.ts'
import type { NodeResponse } from './readResponse.ts'
import { observe, observeAttempt, recordHealth, sendAttempt, stopAttempt } from './sendAttempt.ts'
import type { Attempt } from './sendAttempt.ts'
import { waitForSlot } from './waitForSlot.ts'

type BatchDone = (results: readonly (CallResult | undefined)[], members: readonly (GroupMember | undefined)[]) => void
type SendBatch = (
  calls: readonly ForwardedCall[],
  scope: CallScope,
  options: SendOptions,
  done: BatchDone,
) => () => void

/**
 * Forwards reads to a node in one batch. If it fails, it is sent to another node, and so are those of its calls that fail in a way that another
 * node may not (`failureRules`), each node at most once. If the key or its owner has too much in flight, it waits in the key's queue first.
 * @param options.deadlineMs - The time for the batch and for what follows it, in milliseconds. A node gets at most half of what is left of it.
 * @param done - Called once, and not after the returned function was called, with a result for each call, or `undefined` for a call without a
 * valid response of its own, and with the upstreams that sent them.
 * @returns A function that stops the batch.
 */
export const forwardBatch: SendBatch = (calls, scope, options, done) => {
  if (scope.group.queue.hasSlot(scope)) return forwardNow(calls, scope, options, done)
  return waitForSlot(scope, options, {
    run: (queued) => forwardNow(calls, scope, queued, done),
    reject: (rejection) =>
      done(
        calls.map(() => rejection),
        [],
      ),
  })
}

/** A batch that has a slot of its key. */
interface BatchRun extends SentCalls {
  readonly done: BatchDone
  /** By `performance.now`. */
  readonly endsAt: number
  readonly tried: GroupMember[]
  readonly ends: (AttemptResult | undefined)[]
  /** A node may have received it. */
  isSent: boolean
  /** The places of the calls that the attempt in flight sent. */
  places: readonly number[]
  attempt: Attempt | undefined
  timer: NodeJS.Timeout | undefined
}

const noop = (): void => {}

const forwardNow: SendBatch = (calls, scope, options, done) => {
  const { group, keyId, ownerId } = scope
  const { deadlineMs = scope.timeoutMs, neededHead: seenHead } = options
  const first = group.pick({ batch: calls, units: getUnits(calls), keyId, ownerId, seenHead })
  if (first === undefined) {
    // Each call alone may fit into a budget, or find an upstream that offers its method.
    const result = group.isUsable() ? undefined : rejections.noUpstream(group.network)
    done(
      calls.map(() => result),
      [],
    )
    return noop
  }
  group.queue.acquire(scope)
  const run: BatchRun = {
    calls,
    scope,
    options,
    done,
    endsAt: performance.now() + deadlineMs,
    tried: [],
    ends: calls.map(() => undefined),
    isSent: false,
    places: [],
    attempt: undefined,
    timer: undefined,
  }
  send(run, first, [...calls.keys()])
  return () => {
    const { attempt } = run
    if (attempt === undefined) return
    stopAttempt(attempt, 'aborted')
    release(run)
  }
}

/** Sends calls of the batch to an upstream. */
const send = (run: BatchRun, member: GroupMember, places: readonly number[]): void => {
  const { calls, scope, options, ends } = run
  run.tried.push(member)
  run.places = places
  run.attempt = undefined
  const onlyNulls = places.every((place) => ends[place]?.kind === 'null')
  const leftMs = run.endsAt - performance.now()
  run.timer = setTimeout(() => timeOut(run), Math.min(leftMs / 2, onlyNulls ? maxConfirmMs : Infinity))
  let hasEnded = false
  const attempt = sendAttempt(
    places.flatMap((place) => calls[place] ?? []),
    { member, scope, options, isBatch: true, mayBeTrial: false, number: run.tried.length },
    {
      ended: (ended, fault, response) => {
        hasEnded = true
        clearTimeout(run.timer)
        if (fault !== 'unsent') run.isSent = true
        const responses = fault === undefined ? readResponses(ended, response) : undefined
        if (responses === undefined) handleFailedBatch(run, ended, { fault, response })
        else handleResponses(run, ended, responses)
      },
    },
  )
  // It may have ended at once.
  if (!hasEnded) run.attempt = attempt
}

const timeOut = (run: BatchRun): void => {
  const { attempt } = run
  if (attempt === undefined) return
  attempt.stop()
  run.isSent = true
  handleFailure(run, attempt, 'timeout')
}

const readResponses = (
  { calls, firstId }: Attempt,
  response: UpstreamResponse | undefined,
): readonly (NodeResponse | undefined)[] | undefined => {
  if (response === undefined || response.status < 200 || response.status >= 300) return undefined
  const plain = readPlainBatch(response.body, firstId, calls)
  if (plain !== undefined) return plain
  const found = readBatchResponse(response.body)
  return found && Array.from({ length: calls }, (_, index) => found.get(String(firstId + index)))
}

const handleFailedBatch = (
  run: BatchRun,
  attempt: Attempt,
  { fault, response }: { fault: UpstreamFault | undefined; response: UpstreamResponse | undefined },
): void => {
  // There is no more room for the single calls.
  if (fault === 'noRoom') for (const place of run.places) run.ends[place] ??= toBusy(attempt)
  handleFailure(run, attempt, readFailedBatch(fault, response), fault === 'unsent')
}

const toBusy = ({ member }: Attempt): AttemptResult => ({
  kind: 'aborted',
  isRejectedBeforeRun: false,
  member,
  result: rejections.upstreamBusy(),
})

/** Whether another node may take the batch as it is. */
const concernsNode = (kind: FailureKind): boolean =>
  failureRules[kind].about === 'node' || failureRules[kind].about === 'load'

/** Sends a batch that failed as a whole to another upstream. If there is none, or if the node rejects it as a batch, its calls are left. */
const handleFailure = (run: BatchRun, attempt: Attempt, kind: FailureKind, isUnsent = false): void => {
  observeAttempt(attempt, kind)
  const next = concernsNode(kind) ? pickNext(run, run.places) : undefined
  if (next === undefined) {
    finish(run)
    return
  }
  // It counts only if another node is tried: a node may reject a batch and still respond to each call of it.
  if (!isUnsent) recordHealth(attempt, kind)
  send(run, next.member, next.places)
}

const handleResponses = (run: BatchRun, attempt: Attempt, responses: readonly (NodeResponse | undefined)[]): void => {
  const { calls, places, ends, scope } = run
  const { member } = attempt
  const again: number[] = []
  let results = 0
  let failed: AttemptResult | undefined
  for (const [index, place] of places.entries()) {
    const call = calls[place]
    const response = responses[index]
    if (call === undefined) continue
    const { method, params } = call
    if (response === undefined) {
      again.push(place)
      observe(attempt, 'badResponse', undefined, { method, params, calls: 1 })
      continue
    }
    const end = readNodeResponse({ member, method, params, idempotent: true, batch: true }, response, okStatus)
    if (end.kind === 'result' || end.kind === 'null') results += 1
    else {
      observe(attempt, end.kind, end.retryAfterMs, { method, params, calls: 1 })
      failed = end
    }
    // The node may respond to the call alone.
    if (end.kind === 'batchTooLarge') continue
    const best = ends[place]
    if (decideNext(end, { best, idempotent: true }) === 'next') again.push(place)
    else if (end.kind === 'null') rememberNull(scope.group, call, member)
    ends[place] = chooseEnd(best, end)
  }
  const kind = results === 0 && failed !== undefined ? failed.kind : 'result'
  attempt.trace?.end(kind === 'null' ? 'result' : kind)
  recordHealth(attempt, kind)
  if (results > 0) observe(attempt, 'result', undefined, { method: attempt.method, calls: results })
  const next = pickNext(run, again)
  if (next === undefined) finish(run)
  else send(run, next.member, next.places)
}

const okStatus = { status: 200 }

const finish = (run: BatchRun): void => {
  const { calls, ends, scope } = run
  release(run)
  if (run.isSent)
    run.done(
      ends.map(toResult),
      ends.map((end) => end?.member),
    )
  else
    run.done(
      calls.map(() => rejections.noUpstream(scope.group.network)),
      [],
    )
}

const toResult = (end: AttemptResult | undefined): CallResult | undefined =>
  end !== undefined && 'value' in end.result ? maskResponse(end.result, end.member) : end?.result

const release = (run: BatchRun): void => {
  run.attempt = undefined
  clearTimeout(run.timer)
  run.scope.group.queue.release(run.scope)
}
