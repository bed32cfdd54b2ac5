import type { FailureKind } from '../failure/failureKind.ts'
import type { FailureSource } from '../failure/keyrailError.ts'

/** The fields of every event. No event holds params, results, a key or a full URL. */
export interface EventFields {
  /** Identifies the call within its transport: 1, 2, 3 and so on. All events of a call have the same `id`. */
  readonly id: number
  /** The JSON-RPC method of the call, such as `eth_call`. */
  readonly method: string
  /** The endpoint's URL without its key. */
  readonly redactedUrl: string
}

/** A call starts. */
export interface RequestEvent extends EventFields {
  readonly type: 'request'
}

/** An HTTP request for a call has succeeded or failed. A call that was aborted before its batch completed gets no such event for it. */
export interface AttemptEvent extends EventFields {
  readonly type: 'attempt'
  /** Number of this attempt within the call, from 1. */
  readonly attempt: number
  /** Number of calls in the HTTP request; 1 if it was not a batch. */
  readonly batchSize: number
  /** Time from sending the HTTP request to its end, in milliseconds. */
  readonly durationMs: number
  /** The kind of failure; undefined if the attempt succeeded. */
  readonly kind: FailureKind | undefined
}

/** An attempt failed, and the transport will retry after a wait. */
export interface RetryEvent extends EventFields {
  readonly type: 'retry'
  /** HTTP requests sent for the call so far. */
  readonly attempt: number
  /** The kind of failure of the attempt. */
  readonly kind: FailureKind
  /** The wait before the next attempt, in milliseconds. */
  readonly waitMs: number
}

/** An endpoint failed, and the call is sent to another one. `redactedUrl` is the URL of the endpoint that failed. */
export interface RerouteEvent extends EventFields {
  readonly type: 'reroute'
  /** HTTP requests sent for the call so far. */
  readonly attempt: number
  /** The kind of failure of the attempt. */
  readonly kind: FailureKind
}

/** The fields of the last event of a call. */
export interface EndFields extends EventFields {
  /** Time from the start of the call to its end, including waits, in milliseconds. */
  readonly durationMs: number
  /** HTTP requests that were sent for the call; 0 if the result was cached or the call shared the request of another. */
  readonly attempts: number
  /** Time in the queues of the transport, in milliseconds. */
  readonly queuedMs: number
  /** Whether the call shared the request of an identical call that was in flight. */
  readonly joined: boolean
  /** Whether the call was also sent to a second endpoint because the first was slow. */
  readonly hedged: boolean
}

/** A call got its result. `redactedUrl` is the URL of the endpoint that responded. */
export interface ResponseEvent extends EndFields {
  readonly type: 'response'
  /** Whether the result came from the cache. */
  readonly cached: boolean
}

/** A call failed, after all its retries. `redactedUrl` is the URL of the endpoint that failed. */
export interface FailureEvent extends EndFields {
  readonly type: 'failure'
  /** The kind of failure, as in {@link KeyrailError}. */
  readonly kind: FailureKind
  /** Where the failure comes from, as in {@link KeyrailError}; undefined if it is unknown. */
  readonly source: FailureSource | undefined
  /** The HTTP status of the response; undefined if there was none. */
  readonly status: number | undefined
  /** The code of the JSON-RPC error; undefined if there was none. */
  readonly code: number | undefined
}

/** Any event that hooks and diagnostics channels receive. */
export type TransportEvent = RequestEvent | AttemptEvent | RetryEvent | RerouteEvent | ResponseEvent | FailureEvent

/** Receives the events of one call. */
export interface CallListener {
  /** Called with each event after `request`, up to `response` or `failure`. */
  readonly notify: (event: Exclude<TransportEvent, RequestEvent>) => void
  /** Runs the function that sends the call, for example inside the context of a span. */
  readonly within?: ((run: () => void) => void) | undefined
}

/** Receives the events of the calls of one transport. */
export interface TransportListener {
  /** Whether it wants events of the next call. Called once at the start of each call. */
  readonly isListening: () => boolean
  /** Whether it wants events of this type; an event that no listener wants is not created. */
  readonly wants: (type: TransportEvent['type']) => boolean
  /** Called at the start of a call. Returns the listener of that call's events. */
  readonly startCall: (call: EventFields) => CallListener
}
