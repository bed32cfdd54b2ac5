import type { FailureKind } from '@keyrail/core'
import { rejections } from '../../errors/rejections.ts'
import type { SentCall } from '../../lib/createBreaker.ts'
import type { CallResult } from './callResult.ts'
import type { CallScope, SendOptions } from '../call/callScope.ts'
import type { AttemptTrace } from '../requestTracer.ts'
import type { UpstreamFault, UpstreamResponse } from './createUpstream.ts'
import { chooseEnd, decideNext, failureRules } from './failureRules.ts'
import { maskResponse } from './forwardCall.ts'
import { takeWireIds, toPickOptions, toWireText } from './forwardedCall.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import type { GroupMember } from './groupMember.ts'
import { maxConfirmMs, mayConfirmNull, pickForNull, rememberNull } from './nullResults.ts'
import { readFailedBatch, readNodeResponse } from './readAttempt.ts'
import type { AttemptResult } from './readAttempt.ts'
import { readBatchResponse, readPlainBatch } from './readResponse.ts'
import type { NodeResponse } from './readResponse.ts'
import { recordHealth } from './sendAttempt.ts'
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
interface BatchRun {
  readonly calls: readonly ForwardedCall[]
  readonly scope: CallScope
  readonly options: SendOptions
  readonly done: BatchDone
  /** By `performance.now`. */
  readonly endsAt: number
  readonly tried: GroupMember[]
  /** The best end of each call, if a node has responded to it. */
  readonly ends: (AttemptResult | undefined)[]
  /** A node may have received it. */
  isSent: boolean
  attempt: BatchAttempt | undefined
  timer: NodeJS.Timeout | undefined
}

/** Calls of the batch that were sent to an upstream together. */
interface BatchAttempt {
  readonly member: GroupMember
  /** The places of the calls in the batch. */
  readonly places: readonly number[]
  /** The wire id of the first call. The ids of the others follow. */
  readonly firstId: number
  readonly tracked: SentCall
  /** By `performance.now`. */
  readonly startedAt: number
  readonly trace: AttemptTrace | undefined
  stop: () => void
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
    attempt: undefined,
    timer: undefined,
  }
  send(run, first, [...calls.keys()])
  return () => {
    const { attempt } = run
    if (attempt === undefined) return
    attempt.stop()
    attempt.trace?.end('aborted')
    observe(run, attempt, { method: 'batch', calls: attempt.places.length, kind: 'aborted' })
    release(run)
  }
}

/** How many units of a budget calls use. */
const getUnits = (calls: readonly ForwardedCall[]): number => {
  let units = 0
  for (const { traits } of calls) units += traits.weight
  return units
}

const getCalls = ({ calls }: BatchRun, places: readonly number[]): ForwardedCall[] =>
  places.flatMap((place) => calls[place] ?? [])

/** Sends calls of the batch to an upstream. */
const send = (run: BatchRun, member: GroupMember, places: readonly number[]): void => {
  const { calls, scope, options, ends } = run
  const firstId = takeWireIds(places.length)
  let body = ''
  for (const [index, place] of places.entries()) {
    const call = calls[place]
    if (call !== undefined) body += (index === 0 ? '[' : ',') + toWireText(call, firstId + index)
  }
  const startedAt = performance.now()
  const attempt: BatchAttempt = {
    member,
    places,
    firstId,
    tracked: member.health.sent(false),
    startedAt,
    trace: scope.trace?.attempt({
      method: 'batch',
      network: scope.group.network,
      upstream: member.name,
      attempt: run.tried.length + 1,
      calls: places.length,
    }),
    stop: noop,
  }
  run.tried.push(member)
  run.attempt = attempt
  const onlyNulls = places.every((place) => ends[place]?.kind === 'null')
  run.timer = setTimeout(
    () => {
      attempt.stop()
      run.isSent = true
      handleFailure(run, attempt, 'timeout')
    },
    Math.min((run.endsAt - startedAt) / 2, onlyNulls ? maxConfirmMs : Infinity),
  )
  attempt.stop = member.upstream.post({
    body: `${body}]`,
    budget: scope.budget,
    sent: options.sent,
    headers: attempt.trace?.headers,
    calls: places.length,
    units: getUnits(getCalls(run, places)),
    done: (fault, response) => {
      clearTimeout(run.timer)
      if (fault !== 'unsent') run.isSent = true
      const responses = fault === undefined ? readResponses(attempt, response) : undefined
      if (responses === undefined) handleFailedBatch(run, attempt, { fault, response })
      else handleResponses(run, attempt, responses)
    },
  })
}

const readResponses = (
  { places, firstId }: BatchAttempt,
  response: UpstreamResponse | undefined,
): readonly (NodeResponse | undefined)[] | undefined => {
  if (response === undefined || response.status < 200 || response.status >= 300) return undefined
  const plain = readPlainBatch(response.body, firstId, places.length)
  if (plain !== undefined) return plain
  const found = readBatchResponse(response.body)
  return found === undefined ? undefined : places.map((_, index) => found.get(String(firstId + index)))
}

const handleFailedBatch = (
  run: BatchRun,
  attempt: BatchAttempt,
  { fault, response }: { fault: UpstreamFault | undefined; response: UpstreamResponse | undefined },
): void => {
  if (fault === 'unsent') attempt.member.health.markUnreachable()
  // There is no more room for the single calls.
  if (fault === 'noRoom') for (const place of attempt.places) run.ends[place] ??= toBusy(attempt)
  handleFailure(run, attempt, readFailedBatch(fault, response), fault === 'unsent')
}

const toBusy = ({ member }: BatchAttempt): AttemptResult => ({
  kind: 'aborted',
  isRejectedBeforeRun: false,
  member,
  result: rejections.upstreamBusy(),
})

/** Whether another node may take the batch as it is. */
const concernsNode = (kind: FailureKind): boolean =>
  failureRules[kind].about === 'node' || failureRules[kind].about === 'load'

/** Sends a batch that failed as a whole to another upstream. If there is none, or if the node rejects it as a batch, its calls are left. */
const handleFailure = (run: BatchRun, attempt: BatchAttempt, kind: FailureKind, isUnsent = false): void => {
  const { group, ownerId } = run.scope
  attempt.trace?.end(kind)
  observe(run, attempt, { method: 'batch', calls: attempt.places.length, kind })
  const next = group.several && concernsNode(kind) ? pickNext(run, attempt.places) : undefined
  if (next === undefined) {
    finish(run)
    return
  }
  // It counts only if another node is tried: a node may reject a batch and still respond to each call of it.
  if (!isUnsent) recordHealth(attempt, kind, { ownerId, expensive: false })
  send(run, next.member, next.places)
}

const handleResponses = (
  run: BatchRun,
  attempt: BatchAttempt,
  responses: readonly (NodeResponse | undefined)[],
): void => {
  const { calls, ends, scope } = run
  const { member, places } = attempt
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
      observe(run, attempt, { method, params, calls: 1, kind: 'badResponse' })
      continue
    }
    const end = readNodeResponse({ member, method, params, idempotent: true, batch: true }, response, okStatus)
    if (end.kind === 'result' || end.kind === 'null') results += 1
    else {
      observe(run, attempt, { method, params, calls: 1, kind: end.kind, retryAfterMs: end.retryAfterMs })
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
  recordHealth(attempt, kind, {
    ownerId: scope.ownerId,
    expensive: false,
  })
  if (results > 0) observe(run, attempt, { method: 'batch', calls: results, kind: 'result' })
  const next = again.length > 0 && scope.group.several ? pickNext(run, again) : undefined
  if (next === undefined) finish(run)
  else send(run, next.member, next.places)
}

const okStatus = { status: 200 }

/** Chooses the next upstream for calls of the batch, and those of them that it may have better responses to. */
const pickNext = (
  { calls, ends, tried, scope: { group, ownerId }, options: { neededHead: seenHead } }: BatchRun,
  places: readonly number[],
): { readonly member: GroupMember; readonly places: readonly number[] } | undefined => {
  const nulls: { readonly place: number; readonly call: ForwardedCall; readonly member: GroupMember }[] = []
  const failed: { readonly place: number; readonly call: ForwardedCall }[] = []
  for (const place of places) {
    const [call, end] = [calls[place], ends[place]]
    if (call === undefined) continue
    if (end?.kind === 'null') nulls.push({ place, call, member: end.member })
    else failed.push({ place, call })
  }
  const [first] = failed
  // A failed call can go to any upstream that offers its method, a `null` only to some.
  let other = first === undefined ? undefined : group.pick(toPickOptions(first.call, { tried, ownerId, seenHead }))
  if (first === undefined)
    for (const { call, member } of nulls) other ??= pickForNull(group, call, { member, tried, ownerId })
  if (other === undefined) return undefined
  const picked = other
  const next = [
    ...failed.filter(({ call }) => picked.capabilities.offers(call.method)),
    ...nulls.filter(({ call, member }) => mayConfirmNull(group, call, { member, other: picked })),
  ]
  const fits = group.hasRoom(picked, { calls: next.length, units: getUnits(next.map(({ call }) => call)) })
  return fits ? { member: picked, places: next.map(({ place }) => place) } : undefined
}

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

const observe = (
  { scope: { ownerId } }: BatchRun,
  { member, startedAt }: BatchAttempt,
  outcome: Omit<Parameters<GroupMember['observe']>[0], 'latencyMs' | 'ownerId'>,
): void => member.observe({ ...outcome, ownerId, latencyMs: performance.now() - startedAt })
