import { now } from '../../clock/now.ts'
import { startTimer } from '../../clock/startTimer.ts'
import type { Timer } from '../../clock/startTimer.ts'
import { isReadMethod } from '../../failure/isReadMethod.ts'
import { isKeyrailError } from '../../failure/keyrailError.ts'
import type { KeyrailError } from '../../failure/keyrailError.ts'
import type { Complete, RouteCall } from '../call/call.ts'
import { createProgress, follow, timeLeft } from '../call/callProgress.ts'
import { OPEN_COST } from './endpointChoice.ts'
import { reportsHead } from './heads.ts'
import type { Hedging } from './hedging.ts'
import { isExpensiveMethod } from '../call/isExpensiveMethod.ts'
import { onCancel } from '../call/onCancel.ts'
import type { RouteEndpoint } from './routeOptions.ts'
import type { RouteState } from './routeState.ts'
import { createAttempt, sendAtHead, startAttemptTimer, stopAttempt } from './routeAttempt.ts'
import type { Attempt } from './routeAttempt.ts'
import { createLaggingFailure, isBehind, readBlock } from './routeBlock.ts'
import { chooseFailure, createAllExcludedFailure, mayTryNextEndpoint } from './routeFailure.ts'
import { recordTried } from '../call/triedEndpoints.ts'

/**
 * Sends a call to one endpoint, and to another one when it fails or is slow.
 *
 * @param route - What the calls of the route share.
 * @param call - The call.
 * @param complete - Called once with the outcome.
 * @param minBlock - The lowest block that the response may be from; 0 for any.
 */
export function sendToEndpoints(route: RouteState, call: RouteCall, complete: Complete, minBlock: number): void {
  const { endpoints, choice, heads } = route
  const { method } = call
  const group = call.group ?? call.batch
  const block = minBlock > 0 ? readBlock(method, call.params) : undefined
  /** The attempts in flight: one, or two if the call is hedged. */
  const attempts: Attempt[] = []
  const failures: KeyrailError[] = []
  /** The endpoints that the call was sent to: bit n for endpoint n. */
  let tried = 0
  let over = false
  let hedgeTimer: Timer | undefined

  const finish = (ok: boolean, value: unknown, reason?: unknown): void => {
    over = true
    clearTimeout(hedgeTimer)
    for (const attempt of attempts) stopAttempt(attempt, reason)
    // A user's layer may send another request next.
    if (ok) call.progress.tried = undefined
    complete(ok, value)
  }

  /** Sends the call to the next endpoint after a failure, or fails. */
  const handleFailure = (at: number, failure: KeyrailError): void => {
    const { kind } = failure
    recordFailure(route, call, at, failure)
    if (!mayTryNextEndpoint(method, failure)) return finish(false, failure)
    failures.push(failure)
    // The endpoint works, it only lacks this method or this state, or has an error that nobody knows.
    if (group && !['methodUnavailable', 'missingData', 'unknown'].includes(kind)) choice.releaseGroup(group, at)
    // The other attempt of a hedged call may still succeed.
    if (attempts.length > 0) return
    const next = choice.choose(call, tried, minBlock, OPEN_COST - 1)
    if (next < 0) return finish(false, chooseFailure(failures, listUntried(route, tried)))
    call.emit?.({ type: 'rerouted', redactedUrl: getUrl(route, at), kind })
    start(next)
  }

  const handleOutcome = (attempt: Attempt, ok: boolean, value: unknown): void => {
    const { at } = attempt
    if (ok) {
      if (reportsHead(method)) heads.learn(at, attempt, value)
      if (minBlock === 0 || !isBehind(method, block, minBlock, value)) return finish(true, value)
      return handleFailure(at, createLaggingFailure(method, minBlock, getUrl(route, at)))
    }
    if (isKeyrailError(value)) handleFailure(at, value)
    else finish(false, value)
  }

  /** Starts an attempt at one endpoint. */
  const start = (at: number): void => {
    const endpoint = endpoints[at] as RouteEndpoint
    tried |= 1 << at
    if (group) choice.assignGroup(group, at)
    if (call.progress.tried) recordTried(call, endpoint.redactedUrl)
    const attempt = createAttempt(route, attempts.length > 0 ? withOwnClock(call) : call, at, minBlock)
    attempts.push(attempt)
    startAttemptTimer(attempt, attemptLimitMs(route, call), endpoint.redactedUrl)
    const end: Complete = (ok, value) => {
      clearTimeout(attempt.timer)
      if (over) return
      attempts.splice(attempts.indexOf(attempt), 1)
      const [other] = attempts
      if (other && other.progress !== call.progress) follow(call, other)
      handleOutcome(attempt, ok, value)
    }
    if (!block?.atHead) return endpoint.send(attempt, end)
    sendAtHead(route, attempt, block, end)
  }

  /** Sends the call to a second endpoint when the first one is slow. */
  const startHedgeTimer = (hedging: Hedging, first: RouteEndpoint): void => {
    const delayMs = hedging.countRead(first)
    if (delayMs === undefined) return
    hedgeTimer = startTimer(() => {
      if (!hedging.isAvailable() || failures.length > 0) return
      const second = choice.choose(call, tried, minBlock, route.acceptableWaitMs)
      if (second < 0) return
      hedging.use()
      const redactedUrl = getUrl(route, second)
      recordTried(call, first.redactedUrl)
      call.emit?.({ type: 'hedged', redactedUrl })
      start(second)
    }, delayMs)
  }

  onCancel(call, (reason) => finish(false, reason, reason))
  const first = choice.choose(call, 0, minBlock, Infinity)
  if (first < 0)
    return complete(false, createAllExcludedFailure(method, endpoints[0] as RouteEndpoint, listUntried(route, 0)))
  start(first)
  if (route.hedging && !over && mayBeHedged(call)) startHedgeTimer(route.hedging, endpoints[first] as RouteEndpoint)
}

/** Gets the redacted URL of an endpoint. */
export const getUrl = ({ endpoints }: RouteState, at: number): string => (endpoints[at] as RouteEndpoint).redactedUrl

/** Calls of a group or batch must have one view of the chain, and no caller waits for a poll. */
const mayBeHedged = ({ method, group, batch, options }: RouteCall): boolean =>
  isReadMethod(method) && !group && !batch && !isExpensiveMethod(method) && options.priority !== 'poll'

/** The call for a hedge: while the hedge is queued, the deadline of the attempt in flight runs. */
export const withOwnClock = (call: RouteCall): RouteCall => ({
  ...call,
  progress: createProgress(),
  deadlineAt: now() + timeLeft(call),
})

/** How long an attempt that starts now may take, in milliseconds. Only reads are limited, because a write must not be sent twice. */
export const attemptLimitMs = ({ attemptTimeoutMs, endpoints }: RouteState, call: RouteCall): number => {
  if (!isReadMethod(call.method)) return Infinity
  if (attemptTimeoutMs !== undefined) return attemptTimeoutMs
  // On a busy machine the deadline may have passed before its timer runs.
  return endpoints.length > 1 ? Math.max(1, timeLeft(call) / 3) : Infinity
}

/** Records on the call and on the route how an endpoint failed. */
export const recordFailure = (
  { endpoints, choice, lastKinds }: RouteState,
  call: RouteCall,
  at: number,
  failure: KeyrailError,
): void => {
  const { kind, source } = failure
  // An open circuit breaker reports nothing new about the endpoint.
  if (!(kind === 'unavailable' && source === 'client')) lastKinds[at] = kind
  if (endpoints.length > 1) {
    recordTried(call, (endpoints[at] as RouteEndpoint).redactedUrl, kind)
    // The response proves that the endpoint is on another chain.
    if (kind === 'wrongNetwork' && source === 'client') choice.exclude(at, failure)
  }
}

/** The endpoints that a call was not sent to, each with the reason. */
const listUntried = (
  { endpoints, choice, lastKinds }: RouteState,
  tried: number,
): (readonly [url: string, reason: string])[] =>
  endpoints.flatMap(({ redactedUrl }, at) => {
    if (tried & (1 << at)) return []
    const kind = lastKinds[at]
    const reason = choice.getExclusion(at) ? 'wrongNetwork' : `circuit breaker open${kind ? ` after ${kind}` : ''}`
    return [[redactedUrl, reason] as const]
  })
