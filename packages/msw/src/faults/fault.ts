import type { FailureKind } from '@keyrail/core'
import type { ProviderName } from './providers.ts'

/**
 * The faults that `fail` can simulate: every failure kind of Keyrail except `aborted` (only a caller can abort a call), and:
 * - `hang` never responds; `slow` responds after `delayMs`
 * - `truncated`, `empty` and `htmlPage` break the body
 * - `wrongId`, `stringId`, `nullId`, `missingId` and `duplicateId` change the id of a response; `missingResponse` removes one response from a
 *   batch; `shuffled` returns a batch in another order
 * - `laggingHead` responds as if the chain were `blocks` shorter; `wrongChain` reports another chain id
 */
export type FaultKind =
  | Exclude<FailureKind, 'aborted'>
  | 'hang'
  | 'slow'
  | 'truncated'
  | 'empty'
  | 'htmlPage'
  | 'wrongId'
  | 'stringId'
  | 'nullId'
  | 'missingId'
  | 'duplicateId'
  | 'missingResponse'
  | 'shuffled'
  | 'laggingHead'
  | 'wrongChain'

/** A custom HTTP response. If `body` is not a string, it is sent as JSON with each id 1 replaced by the id of the call. */
export interface FaultResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** The calls that fail, and their fault. */
export interface FaultOptions {
  /** Only calls of this method, or of these methods. @default all methods, or those that the kind of fault applies to */
  readonly method?: string | readonly string[] | undefined
  /** How many calls fail: 1 or more, or Infinity to fail until `clearFaults()`. @default 1 */
  readonly times?: number | undefined
  /** How many matching calls succeed before the first one fails. @default 0 */
  readonly after?: number | undefined
  /** The provider whose error responses to use. @default the node's `provider` */
  readonly provider?: ProviderName | undefined
  /** The HTTP status, if the provider uses several for this kind, such as 402, 403 or 429 for `quota`. */
  readonly status?: number | undefined
  /** How long the client must wait, in milliseconds. Sent as `retry-after` in whole seconds, and exactly in the error data of `keyrail`. */
  readonly retryAfterMs?: number | undefined
  /** Replaces the provider's error message. */
  readonly message?: string | undefined
  /** Replaces the error's data, such as the revert data of `revert`. */
  readonly data?: unknown
  /** The delay of `slow`, in milliseconds. @default 1_000 */
  readonly delayMs?: number | undefined
  /** How many blocks `laggingHead` is behind. @default 3 */
  readonly blocks?: number | undefined
}

/** A scheduled fault. */
export interface Fault {
  readonly kind: FaultKind | FaultResponse
  readonly options: FaultOptions
}

/** The name of a fault in the list of received calls. */
export function faultName({ kind }: Fault): string {
  return typeof kind === 'string' ? kind : `status ${kind.status}`
}
