import type { FailureKind } from '../failure/failureKind.ts'
import type { FailureSource } from '../failure/keyrailError.ts'

/** What every event says. None holds params, results, a key or an address. */
export interface EventFields {
  /** Counts the calls of a transport, so that the events of one call can be told from those of another. */
  readonly id: number
  readonly method: string
  /** What may be printed of the address that the event is about. */
  readonly redactedUrl: string
}

/** A call comes in. */
export interface RequestEvent extends EventFields {
  readonly type: 'request'
}

/** One HTTP request on behalf of a call has ended. A call that leaves a batch under way is not told of it. */
export interface AttemptEvent extends EventFields {
  readonly type: 'attempt'
  /** Counts the attempts of the call, from 1. */
  readonly attempt: number
  /** How many calls were in the request. */
  readonly batchSize: number
  readonly durationMs: number
  /** How it failed; undefined where it was answered. */
  readonly kind: FailureKind | undefined
}

/** An attempt failed, and another follows after a wait. */
export interface RetryEvent extends EventFields {
  readonly type: 'retry'
  /** Attempts so far. */
  readonly attempt: number
  readonly kind: FailureKind
  readonly waitMs: number
}

/** An endpoint failed, and another is asked. `redactedUrl` is of the one that failed. */
export interface RerouteEvent extends EventFields {
  readonly type: 'reroute'
  readonly attempt: number
  readonly kind: FailureKind
}

/** What is known of a call at its end. */
export interface EndFields extends EventFields {
  /** From the call to its end, waits included. */
  readonly durationMs: number
  /** HTTP requests made for it: 0 where it was cached, or joined another call's. */
  readonly attempts: number
  /** How much of the time it stood in queues of ours. */
  readonly queuedMs: number
  /** Whether it shared the request of a call that was under way. */
  readonly joined: boolean
  /** Whether a second endpoint was asked because the first was slow. */
  readonly hedged: boolean
}

/** A call was answered. `redactedUrl` is of the endpoint that did. */
export interface ResponseEvent extends EndFields {
  readonly type: 'response'
  /** Whether the answer was kept from before. */
  readonly cached: boolean
}

/** A call failed. */
export interface FailureEvent extends EndFields {
  readonly type: 'failure'
  readonly kind: FailureKind
  readonly source: FailureSource | undefined
  /** The HTTP status, where an answer came. */
  readonly status: number | undefined
  /** The code of the JSON-RPC error, where there was one. */
  readonly code: number | undefined
}

/** All that hooks and diagnostics channels are told. */
export type TransportEvent = RequestEvent | AttemptEvent | RetryEvent | RerouteEvent | ResponseEvent | FailureEvent

/** Told of one call until its end. */
export interface Watcher {
  readonly tell: (event: Exclude<TransportEvent, RequestEvent>) => void
  /** Runs what carries the call. */
  readonly within?: ((run: () => void) => void) | undefined
}

/** Someone who may want to be told of calls. */
export interface Watch {
  /** Asked once for each call. */
  readonly listens: () => boolean
  /** Whether it is worth making an event of this type. */
  readonly wants: (type: TransportEvent['type']) => boolean
  /** Tells that a call begins. */
  readonly begin: (call: EventFields) => Watcher
}
