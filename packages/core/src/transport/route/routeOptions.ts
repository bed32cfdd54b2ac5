import type { Guarded, Health } from '../breaker.ts'
import type { Budgeted, BudgetStats } from '../budget.ts'
import type { Endpoint } from '../endpoint/http.ts'

/** One of the endpoints of a `route`. If it has a budget or a circuit breaker, the choice of an endpoint takes them into account. */
export interface RouteEndpoint extends Endpoint, Partial<Budgeted>, Partial<Guarded> {
  /** Its share of the calls, relative to the others; 0 makes it a spare for when the others fail. @default 1 */
  readonly weight?: number | undefined
  /** Its name in statistics. @default its redacted URL */
  readonly name?: string | undefined
  /** Endpoints with the same group have one vote. @default its host and port */
  readonly group?: string | undefined
}

/** When a read is also sent to a second endpoint because the first one is slow. */
export interface HedgeOptions {
  /** A read is hedged if it takes longer than this percentage of the endpoint's recent responses. @default 95 */
  readonly percentile?: number | undefined
  /** The shortest time before a read is hedged, in milliseconds. @default 50 */
  readonly minMs?: number | undefined
  /** The largest part of the reads that is hedged, from 0 to 1. @default 0.1 */
  readonly maxRatio?: number | undefined
}

/** Options of `route`. */
export interface RouteOptions {
  /**
   * Which of the endpoints that work is tried first: the first one given, or the one with the shortest recent response time. With `latency`, a read
   * is sent to another endpoint from time to time, to measure it. It needs the circuit breaker, and no weights other than 0. @default 'given'
   */
  readonly order?: 'given' | 'latency' | undefined
  /**
   * How long one attempt at one endpoint may take, in milliseconds; reads only.
   * @default no separate limit with one endpoint, a third of the call's remaining time with several
   */
  readonly attemptTimeoutMs?: number | undefined
  /** If a call would wait longer than this for the budget of an endpoint, another one is preferred, in milliseconds. @default 100 */
  readonly acceptableWaitMs?: number | undefined
  /**
   * Sends a read to a second endpoint when the first one is slow. Does not apply to polling, expensive methods, and calls of a group or an explicit
   * batch. @default false
   */
  readonly hedge?: boolean | HedgeOptions | undefined
  /** Never returns a result from a node that is behind the highest block seen on this transport. @default false */
  readonly minBlock?: boolean | undefined
}

/** The state of one endpoint of a transport. */
export interface EndpointState {
  /** Its name, or its redacted URL. */
  readonly name: string
  readonly redactedUrl: string
  /** The highest block that it is known to have; 0 before its first report. */
  readonly head: number
  /** Why the endpoint is not used any more: it proved to be on another chain. */
  readonly out: string | undefined
  readonly health: Health | undefined
  readonly budget: BudgetStats | undefined
}

/** Several endpoints combined into one. */
export interface Route extends Endpoint {
  /** The chain that all of them are on, if it was configured. */
  readonly chainId: number | undefined
  readonly stats: () => EndpointState[]
}
