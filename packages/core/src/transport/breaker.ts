import { now } from '../clock/now.ts'
import { createFailure } from '../failure/createFailure.ts'
import type { FailureKind } from '../failure/failureKind.ts'
import { checkNames, checkRange } from '../failure/check.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import { isReadMethod } from '../failure/isReadMethod.ts'
import { createLatency } from './endpoint/breakerLatency.ts'
import type { Send, RouteCall } from './call/call.ts'
import type { Endpoint } from './endpoint/http.ts'

/** Options of {@link breaker}. */
export interface BreakerOptions {
  /** How many failures in a row open the circuit breaker. @default 5 */
  readonly failures?: number | undefined
  /** The part of the calls in the window that must fail to open it, from 0 to 1. @default 0.5 */
  readonly failureRate?: number | undefined
  /** How many calls the window must hold before `failureRate` applies. @default 20 */
  readonly minCalls?: number | undefined
  /** The length of the window, in milliseconds. @default 30_000 */
  readonly windowMs?: number | undefined
  /** How long it stays open, in milliseconds; doubles each time a probe fails, to at most 12 times this. @default 5_000 */
  readonly openMs?: number | undefined
  /** How long it stays open after the key was rejected, in milliseconds. @default 300_000 */
  readonly deadMs?: number | undefined
}

/** Whether calls are sent: all of them (`closed`), none (`open`), or one read at a time as a probe (`halfOpen`). */
export type BreakerState = 'closed' | 'open' | 'halfOpen'

/** The recent health of an endpoint, measured by the calls that were sent to it. */
export interface Health {
  readonly state: BreakerState
  /** Requests in the window; each call of a batch adds its share. While the breaker is open these are the ones that opened it. */
  readonly calls: number
  /** How many of them failed: the endpoint did not respond, or rejected the key. An error from the node counts as a response. */
  readonly failures: number
  /** The part of the requests that did not fail, from 0 to 1; undefined if there were none. */
  readonly successRate: number | undefined
  /** The average response time, in milliseconds; undefined before the first response. */
  readonly latencyMs: number | undefined
}

/** The members that {@link breaker} adds to an endpoint. */
export interface Guarded {
  readonly state: () => BreakerState
  /** Whether a call would be sent now. */
  readonly admits: (call: RouteCall) => boolean
  readonly health: () => Health
  /** The average response time, in milliseconds; undefined before the first response. */
  readonly averageMs: () => number | undefined
  /** The response time at a percentile, in milliseconds; undefined before there were 20 responses. */
  readonly percentileMs: (percentile: number) => number | undefined
}

/** The window is divided into this many parts. The oldest part is dropped as a whole. */
const PARTS = 10

const names: readonly (keyof BreakerOptions)[] = ['failures', 'failureRate', 'minCalls', 'windowMs', 'openMs', 'deadMs']

/** The meaning of a call's outcome: the endpoint works, is down, rejected the key as invalid or as not allowed, or nothing. */
type Evidence = 'up' | 'down' | 'invalidKey' | 'forbidden' | 'none'

/** Kinds of failure that show that an endpoint is down. */
const outageKinds: ReadonlySet<FailureKind> = new Set(['network', 'timeout', 'unavailable', 'badResponse'])

function getEvidence(failure: unknown): Evidence {
  if (!isKeyrailError(failure)) return 'none'
  const { kind, source, status = 0, rpcError } = failure
  if (kind === 'auth') return 'invalidKey'
  // A service reports the wrong network if the key is for another one. If a response proved it, `route` excludes the endpoint.
  if (kind === 'forbidden' || (kind === 'wrongNetwork' && source !== 'client')) return 'forbidden'
  // An error object under a good status, such as "internal error", comes from the node: the endpoint works.
  if (outageKinds.has(kind)) return rpcError && status < 300 ? 'up' : 'down'
  return source === 'client' ? 'none' : 'up'
}

/**
 * Creates a circuit breaker. It opens when the endpoint fails, so that calls go to another endpoint at once instead of waiting for the next
 * failure. After a time it sends one read at a time as a probe, and it closes when a probe gets a response. It sends no requests of its own.
 *
 * It opens on failures that show that the endpoint is down: no connection, a broken one, a timeout, HTTP 5xx, an unreadable response. An invalid
 * key (401) opens it for longer, at once, and so does a rejection as forbidden `failures` times in a row. It does not open on responses of the
 * node (reverts, errors), on wrong calls, or on throttling, which the budget handles.
 *
 * Only a failed probe makes the wait longer. Calls that were in flight when the breaker opened or closed are ignored: they neither open it
 * nor close it.
 * It is useful only if there is another endpoint.
 *
 * The service's breaker, `createBreaker` of the gateway, has other rules on purpose: its calls come from many users, one of whom may cause all
 * failures, and it can send a cheap request of its own to check whether the node works.
 *
 * @param options - When it opens, and for how long.
 * @returns A function that adds the circuit breaker to an endpoint.
 * @throws {KeyrailError} kind `invalidRequest` if an option is wrong. While the circuit breaker is open, a call fails with kind `unavailable`,
 * source `client`: it was not sent.
 * @example
 * const endpoints = failover([{ url: 'https://one.example' }, { url: 'https://two.example' }], { breaker: { openMs: 10_000 } })
 * const transport = createTransport({ endpoints, stats: stats() })
 * transport.stats().endpointStates[0]?.health?.state // 'closed'
 */
export function breaker(options: BreakerOptions = {}): <E extends Endpoint>(endpoint: E) => E & Guarded {
  checkNames('breaker', options, names)
  const {
    failures = 5,
    failureRate = 0.5,
    minCalls = 20,
    windowMs = 30_000,
    openMs = 5_000,
    deadMs = 300_000,
  } = options
  for (const [name, value] of Object.entries({ failures, minCalls })) checkRange(name, value, 1, 1e6)
  for (const [name, value] of Object.entries({ windowMs, openMs, deadMs })) checkRange(name, value, 1, 2 ** 31 - 1)
  checkRange('failureRate', failureRate, 0.01, 1)

  return (endpoint) => {
    const { redactedUrl } = endpoint
    const latency = createLatency()
    const total = new Float64Array(PARTS)
    const failed = new Float64Array(PARTS)
    /** Requests for which the key was rejected. */
    const rejected = new Float64Array(PARTS)
    let part = 0
    let inRow = 0
    let rejections = 0
    let opened = false
    let openings = 0
    /** How often it has opened or closed: calls of an earlier period are ignored. */
    let period = 0
    let openedAt = -Infinity
    let openForMs = 0
    let probing = false

    const clear = (): void => {
      total.fill(0)
      failed.fill(0)
      rejected.fill(0)
      inRow = rejections = 0
    }

    /** Drops the parts that have left the window. */
    const slide = (time: number): number => {
      const current = Math.floor((time * PARTS) / windowMs)
      for (let i = Math.max(part + 1, current - PARTS + 1); i <= current; i++)
        total[i % PARTS] = failed[i % PARTS] = rejected[i % PARTS] = 0
      part = current
      return current % PARTS
    }

    // A hundred hundredths add up to a little less than one.
    const sum = (counts: Float64Array): number => Math.round(counts.reduce((all, count) => all + count, 0) * 1e6) / 1e6

    const open = (time: number, ms: number): void => {
      opened = true
      period++
      openedAt = time
      openForMs = ms
      inRow = rejections = 0
    }

    const learn = (
      evidence: Evidence,
      sent: { readonly period: number; readonly probes: boolean },
      share: number,
    ): void => {
      if (evidence === 'none' || sent.period !== period) return
      const time = now()
      const at = slide(time)
      total[at]! += share
      if (evidence === 'down') {
        failed[at]! += share
        inRow += share
        if (opened && !sent.probes) return
        const calls = sum(total)
        if (opened || inRow > failures - 1e-6 || (calls >= minCalls && sum(failed) >= failureRate * calls))
          open(time, openMs * Math.min(12, 2 ** openings++))
        return
      }
      if (evidence !== 'up') rejected[at]! += share
      inRow = 0
      rejections = evidence === 'forbidden' ? rejections + share : 0
      const stillForbidden = opened && openForMs === deadMs && evidence === 'forbidden'
      if (evidence === 'invalidKey' || rejections > failures - 1e-6 || stillForbidden) return open(time, deadMs)
      if (!opened) return
      opened = false
      period++
      openings = 0
      // Failures from before it closed must not open it again.
      clear()
      total[at] = share
    }

    const stateAt = (time: number): BreakerState =>
      !opened ? 'closed' : time < openedAt + openForMs ? 'open' : 'halfOpen'
    const state = (): BreakerState => stateAt(opened ? now() : 0)
    const admits = ({ method }: RouteCall): boolean => {
      const is = state()
      return is === 'closed' || (is === 'halfOpen' && !probing && isReadMethod(method))
    }

    const send: Send = (call: RouteCall, complete) => {
      const probes = opened && admits(call)
      if (opened && !probes && !call.bypassesBreaker)
        return complete(
          false,
          createFailure(
            {
              kind: 'unavailable',
              text: 'not sent: the circuit breaker is open, because this endpoint keeps failing',
              unsent: true,
            },
            { method: call.method, redactedUrl },
          ),
        )
      if (probes) probing = true
      const sent = { period, probes }
      const sentAt = now()
      endpoint.send(call, (ok, value) => {
        if (probes) probing = false
        const ms = now() - sentAt
        // A call that was cancelled after more than the average time would have taken longer. Without these, an endpoint whose slow calls are cancelled
        // would seem fast.
        if (ok || (call.ended && ms > (latency.averageMs() ?? Infinity))) latency.add(ms)
        learn(ok ? 'up' : getEvidence(value), sent, call.share)
        complete(ok, value)
      })
    }

    const health = (): Health => {
      slide(now())
      const calls = sum(total)
      const failedCalls = Math.min(calls, sum(failed) + sum(rejected))
      return {
        state: state(),
        calls,
        failures: failedCalls,
        successRate: calls ? 1 - failedCalls / calls : undefined,
        latencyMs: latency.averageMs(),
      }
    }

    return {
      ...endpoint,
      send,
      state,
      admits,
      health,
      averageMs: latency.averageMs,
      percentileMs: latency.percentileMs,
    }
  }
}
