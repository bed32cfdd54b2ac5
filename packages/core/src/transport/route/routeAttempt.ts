import { now } from '../../clock/now.ts'
import { startTimer } from '../../clock/startTimer.ts'
import type { Timer } from '../../clock/startTimer.ts'
import { createFailure } from '../../failure/createFailure.ts'
import type { Send, Complete, RouteCall } from '../call/call.ts'
import { callTime } from '../call/callProgress.ts'
import { blockNumber, FRESH_HEAD_MS, headRequest } from './heads.ts'
import type { RouteEndpoint } from './routeOptions.ts'
import { createLaggingFailure } from './routeBlock.ts'
import type { BlockRead } from './routeBlock.ts'
import type { RouteState } from './routeState.ts'

/** A call as it is sent to one endpoint. */
export interface Attempt extends Omit<RouteCall, 'params'> {
  /** The block tag may be replaced by a number just before the attempt is sent. */
  params: string
  /** The position of the endpoint. */
  readonly at: number
  /** The lowest block that the response may be from; 0 for any. */
  readonly minBlock: number
  /** Ends the attempt if it takes too long. */
  timer: Timer | undefined
}

/**
 * Creates an attempt of a call at one endpoint.
 *
 * @param route - The endpoints.
 * @param call - The call.
 * @param at - The position of the endpoint.
 * @param minBlock - The lowest block that the response may be from; 0 for any.
 */
export function createAttempt({ endpoints }: RouteState, call: RouteCall, at: number, minBlock: number): Attempt {
  const { admits } = endpoints[at] as RouteEndpoint
  return {
    ...call,
    at,
    minBlock,
    cancel: undefined,
    // An endpoint with an open circuit breaker is chosen only if there is no better one.
    bypassesBreaker: admits?.(call) === false,
    timer: undefined,
  }
}

/** Stops an attempt without ending its call. */
export function stopAttempt(attempt: Attempt, reason: unknown): void {
  attempt.ended = true
  attempt.cancel?.(reason)
}

/**
 * Lets an attempt fail with kind `timeout` when it takes too long. The time that it waits in our own queues does not count.
 *
 * @param attempt - The attempt. Its `timer` must be cleared when it ends.
 * @param limitMs - How long it may take, in milliseconds; `Infinity` for no limit.
 * @param redactedUrl - The endpoint, for the error message.
 */
export function startAttemptTimer(attempt: Attempt, limitMs: number, redactedUrl: string): void {
  if (limitMs >= 2 ** 31) return
  const endsAt = callTime(attempt) + limitMs
  const checkTime = (): void => {
    const leftMs = endsAt - callTime(attempt)
    // At least 10 ms, as for the deadline of a call.
    if (leftMs >= 1) attempt.timer = startTimer(checkTime, Math.max(leftMs, 10))
    else {
      const text = `no response within the ${Math.round(limitMs)} ms of one attempt`
      stopAttempt(attempt, createFailure({ kind: 'timeout', text }, { method: attempt.method, redactedUrl }))
    }
  }
  attempt.timer = startTimer(checkTime, limitMs)
}

/**
 * Sends an attempt that reads at the head with the block tag replaced by the number of the endpoint's head. If the last known head is too old or
 * below `minBlock`, it is requested first.
 *
 * @param route - The endpoints and their heads.
 * @param attempt - The attempt.
 * @param block - The block that it reads at.
 * @param complete - Called once with the outcome.
 */
export function sendAtHead(
  { endpoints, heads, headQueries }: RouteState,
  attempt: Attempt,
  block: BlockRead,
  complete: Complete,
): void {
  const { at, minBlock } = attempt
  const { send, redactedUrl } = endpoints[at] as RouteEndpoint
  const sendPinned = (head: number): void => {
    attempt.params = block.pin(head)
    send(attempt, complete)
  }
  const { number, at: reportedAt } = heads.of(at)
  if (number >= minBlock && now() - reportedAt < FRESH_HEAD_MS) return sendPinned(number)
  const queryHead = headQueries[at] as Send
  queryHead(attempt, (ok, value) => {
    if (!ok) return complete(ok, value)
    heads.learn(at, headRequest, value)
    const head = blockNumber(value)
    if (head < minBlock) return complete(false, createLaggingFailure(attempt.method, minBlock, redactedUrl))
    sendPinned(head)
  })
}
