import type { Network } from '../../lib/network.ts'
import type { Outcome } from '../metering/meter.ts'

/** The error of a call: that of a rejection, or the error object of a node as source text, which may be cut. */
export type RecordedError = { readonly code: number; readonly message: string } | { readonly text: string }

/**
 * A request to record. Its texts may contain secrets, which the log masks before it writes them.
 *
 * `method`, `error`, `params` and `response` are of the call that the entry shows: of a batch the first call that failed, else the first that
 * reverted, else the first one.
 */
export interface RecordedRequest {
  readonly keyId: string
  readonly method: string | undefined
  readonly outcome: Outcome
  readonly error: RecordedError | undefined
  readonly status: number
  readonly durationMs: number
  readonly network: Network
  readonly requestId: string
  /** How many calls it has. */
  readonly calls: number
  readonly failedCalls: number
  /** How many of them had their result in the chain store. */
  readonly storedCalls: number
  /** The key and the token that it was sent with. Not recorded. */
  readonly secrets: readonly string[]
  readonly keyEnding: string | undefined
  readonly origin: string | undefined
  readonly ip: string | undefined
  readonly requestBytes: number | undefined
  readonly responseBytes: number | undefined
  readonly transport: 'http' | 'websocket'
  /** Source text of the params; `undefined` if it is not to be recorded. */
  readonly params: string | undefined
  /** Source text of the result or error; `undefined` if it is not to be recorded. */
  readonly response: string | undefined
}

/** Records failed and reverted requests, and a sample of the successful ones. */
export interface RequestRecorder {
  /** Whether to record a request. Call this for each request of a known key: it counts them. It takes well below a microsecond. */
  admits(keyId: string, outcome: Outcome): boolean
  /** Records an admitted request. It does no I/O, and may drop it. */
  add(request: RecordedRequest): void
}

/** Longest excerpt of params and of a response, in characters. */
export const excerptLength = 1_024
/** Longest text that is taken from a request: longer than an excerpt, so that no part of a secret is left at its end. */
export const capturedLength: number = excerptLength + 256
