import type { IncomingHttpHeaders } from 'node:http'
import type { CallOutcome } from './upstream/health/callOutcome.ts'

/** Traces requests. Spans hold no key, no params, no results and no URL of a node. */
export interface RequestTracer {
  /**
   * Decides whether a request is traced, before anything is allocated for it.
   * @param headers - The request headers of a caller that has sent a trace context. @default none
   * @returns `undefined` if the request is neither sampled nor part of a trace of its caller.
   */
  readonly start: (request: TracedRequest, headers?: IncomingHttpHeaders) => RequestTrace | undefined
}

/** The facts about a request that a trace starts with. */
export interface TracedRequest {
  readonly requestId: string
  /** By `performance.now`. */
  readonly startedAt: number
}

/** The trace of one request. */
export interface RequestTrace {
  /** Records a step that ends now. @param startedAt - By `performance.now`. */
  readonly step: (name: 'admission' | 'limits', startedAt: number) => void
  /** Starts the span of an attempt at a node. */
  readonly attempt: (attempt: TracedAttempt) => AttemptTrace
  /** Ends the trace. Only the first call counts. */
  readonly end: (result: TracedResult) => void
}

/** An attempt at a node. */
export interface TracedAttempt {
  /** `batch` for a batch. */
  readonly method: string
  readonly network: string
  /** The node's name in the config. */
  readonly upstream: string
  /** 1 for the first attempt at this call. */
  readonly attempt: number
  /** How many calls it is. */
  readonly calls: number
}

/** The span of an attempt. */
export interface AttemptTrace {
  /** The trace context, for the request to the node. */
  readonly headers: Readonly<Record<string, string>>
  readonly end: (kind: CallOutcome['kind']) => void
}

/** How a request ended. */
export interface TracedResult {
  /** The HTTP status, or 499 if the caller disconnected first. */
  readonly status: number
  readonly network: string | undefined
  readonly method: string | undefined
  readonly calls: number | undefined
  /** Why it, or a call of it, was rejected. */
  readonly reason: string | undefined
}
