import type { FailureKind } from '@keyrail/core'

/** How an attempt at an upstream ended. */
export interface CallOutcome {
  /** `batch` for the calls of a batch that got a result, or for all of them if the batch failed as a whole. */
  readonly method: string
  /** Source text. Without it, the gateway learns nothing about the node's state. */
  readonly params?: string | undefined
  /** The owner of the key that sent the call. */
  readonly ownerId: string
  /** How many calls it is about: 1, or more for `batch`. The calls of a batch that failed on their own have an outcome each. */
  readonly calls: number
  /** `result`, or how it failed. `aborted`: the gateway stopped it, because another attempt succeeded or the caller left. */
  readonly kind: 'result' | FailureKind
  /** From when it was posted, in milliseconds. */
  readonly latencyMs: number
  /** The delay that the node requests, in milliseconds, if any. */
  readonly retryAfterMs?: number | undefined
}
