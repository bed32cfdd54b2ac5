import { now } from '../clock/now.ts'
import { createFailure } from '../failure/createFailure.ts'
import type { FailureKind } from '../failure/failureKind.ts'
import { checkNames, checkRange } from '../failure/check.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import { isReadMethod } from '../failure/isReadMethod.ts'
import { createLatency } from './breakerLatency.ts'
import type { Send } from './call.ts'
import type { Endpoint } from './http.ts'
import type { RouteCall } from './routeCall.ts'

/** Options of {@link breaker}. */
export interface BreakerOptions {
  /** So many failures in a row open it. @default 5 */
  readonly failures?: number | undefined
  /** So large a part of the calls of the window failing opens it, from 0 to 1. @default 0.5 */
  readonly failureRate?: number | undefined
  /** The window must hold so many calls before their rate counts. @default 20 */
  readonly minCalls?: number | undefined
  /** How far the window reaches back, in milliseconds. @default 30_000 */
  readonly windowMs?: number | undefined
  /** How long it stays open, in milliseconds; doubles each time a probe fails, to at most 12 times this. @default 5_000 */
  readonly openMs?: number | undefined
  /** How long it stays open where it is the key that is refused, in milliseconds. @default 300_000 */
  readonly deadMs?: number | undefined
}

/** Whether an endpoint is asked: yes; not now; or by one call at a time, to see. */
export type BreakerState = 'closed' | 'open' | 'halfOpen'

/** How an endpoint has been doing lately, by the calls it carried. */
export interface Health {
  readonly state: BreakerState
  /** Requests in the window; each call of a batch adds its share. While the breaker is open these are the ones that opened it. */
  readonly calls: number
  /** How many of them failed: without an answer of the endpoint, or because it rejected the key. An error of the node is an answer. */
  readonly failures: number
  /** The part of them that did not fail, from 0 to 1; undefined if there were none. */
  readonly successRate: number | undefined
  /** How long an answer takes on average, in milliseconds; undefined before the first. */
  readonly latencyMs: number | undefined
}

/** What {@link breaker} adds to an endpoint. */
export interface Guarded {
  readonly state: () => BreakerState
  /** Whether a call would be let through now. */
  readonly admits: (call: RouteCall) => boolean
  readonly health: () => Health
  /** The time within which so many of a hundred answers come, in milliseconds; undefined before there were 20. */
  readonly percentileMs: (percentile: number) => number | undefined
}

/** The window is counted in so many parts, and the oldest is dropped whole. */
const PARTS = 10

const names: readonly (keyof BreakerOptions)[] = ['failures', 'failureRate', 'minCalls', 'windowMs', 'openMs', 'deadMs']

/** What the end of a call says of its endpoint: it works, it does not, its key is refused, or nothing. */
type Verdict = 'up' | 'down' | 'dead' | 'refused' | 'nothing'

/** Kinds of failure that say that an endpoint is out of order. */
const outages: ReadonlySet<FailureKind> = new Set(['network', 'timeout', 'unavailable', 'badResponse'])

function verdictOf(failure: unknown): Verdict {
  if (!isKeyrailError(failure)) return 'nothing'
  const { kind, source, status = 0, rpcError } = failure
  if (kind === 'auth') return 'dead'
  // Of the wrong network the service speaks where it is about the key; what an answer proved is for route to act on.
  if (kind === 'forbidden' || (kind === 'wrongNetwork' && source !== 'client')) return 'refused'
  // An error object under a good status is the node speaking, such as "internal error": it is there.
  if (outages.has(kind)) return rpcError && status < 300 ? 'up' : 'down'
  return source === 'client' ? 'nothing' : 'up'
}

/**
 * Watches how an endpoint does, by the calls it carries and no others, and opens where it is out of order, so that calls go elsewhere at once
 * instead of waiting for it to fail again. After a time one read at a time is let through; when one is answered the breaker closes.
 *
 * It opens on what says that the endpoint is out of order: no connection, a broken one, no answer in time, 5xx, what is no answer at all. A
 * refused key (401) opens it for long, at once, and so does being forbidden the same number of times in a row. It does not open on what a
 * node answers (reverts, errors), on wrong calls, or on throttling, which is what a budget is for.
 *
 * Only a probe that fails makes the wait longer. Calls that were in flight when the breaker opened or closed are ignored: they neither open it
 * nor close it.
 * It is of use only where there is another endpoint to ask.
 *
 * @param options - When it opens, and for how long.
 * @returns A function that puts the breaker before an endpoint.
 * @throws {KeyrailError} kind `invalidRequest` where an option is wrong. A call fails with kind `unavailable`, source `client`, while it is
 * open: it was not sent.
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
    /** How often it has opened or closed. */
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

    /** Drops the parts of the window that are past. */
    const slide = (time: number): number => {
      const current = Math.floor((time * PARTS) / windowMs)
      for (let i = Math.max(part + 1, current - PARTS + 1); i <= current; i++)
        total[i % PARTS] = failed[i % PARTS] = rejected[i % PARTS] = 0
      part = current
      return current % PARTS
    }

    // A hundred hundredths are a little less than one.
    const sum = (counts: Float64Array): number => Math.round(counts.reduce((all, count) => all + count, 0) * 1e6) / 1e6

    const open = (time: number, ms: number): void => {
      opened = true
      period++
      openedAt = time
      openForMs = ms
      inRow = rejections = 0
    }

    const judge = (
      verdict: Verdict,
      sent: { readonly period: number; readonly probes: boolean },
      share: number,
    ): void => {
      if (verdict === 'nothing' || sent.period !== period) return
      const time = now()
      const at = slide(time)
      total[at]! += share
      if (verdict === 'down') {
        failed[at]! += share
        inRow += share
        if (opened && !sent.probes) return
        const calls = sum(total)
        if (opened || inRow > failures - 1e-6 || (calls >= minCalls && sum(failed) >= failureRate * calls))
          open(time, openMs * Math.min(12, 2 ** openings++))
        return
      }
      if (verdict !== 'up') rejected[at]! += share
      inRow = 0
      rejections = verdict === 'refused' ? rejections + share : 0
      const stillRefused = opened && openForMs === deadMs && verdict === 'refused'
      if (verdict === 'dead' || rejections > failures - 1e-6 || stillRefused) return open(time, deadMs)
      if (!opened) return
      opened = false
      period++
      openings = 0
      // Failures of calls that were sent before it closed must not open it again.
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

    const send: Send = (call: RouteCall, settle) => {
      const probes = opened && admits(call)
      if (opened && !probes && !call.bypassesBreaker)
        return settle(
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
        // What was ended while it took long would have taken longer: left out, slow answers would seem rare wherever they are not waited for.
        if (ok || (call.ended && ms > (latency.averageMs() ?? Infinity))) latency.add(ms)
        judge(ok ? 'up' : verdictOf(value), sent, call.share)
        settle(ok, value)
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

    return { ...endpoint, send, state, admits, health, percentileMs: latency.percentileMs }
  }
}
