import type { FailureKind } from '@keyrail/core'
import type { Finality } from './createFinality.ts'
import type { Upstream } from './createUpstream.ts'
import type { Health } from './watchHealth.ts'

/** How an attempt at an upstream ended. */
export interface CallOutcome {
  /** `batch` for the calls of a batch that got a result, or for all of them if the batch failed as a whole. */
  readonly method: string
  /** How many calls it is about: 1, or more for `batch`. The calls of a batch that failed on their own have an outcome each. */
  readonly calls: number
  /** `result`, or how it failed. `aborted`: the gateway stopped it, because another attempt succeeded or the caller left. */
  readonly kind: 'result' | FailureKind
  /** From when it was posted, in milliseconds. */
  readonly latencyMs: number
  /** How long the node asks to wait, in milliseconds, if it does. */
  readonly retryAfterMs?: number | undefined
}

/** An upstream of a group, with its health and its finalized block. */
export interface GroupMember {
  /** Its name in logs and metrics. */
  readonly name: string
  readonly upstream: Upstream
  readonly health: Health
  readonly finality: Finality
  /** The number of the newest block that it was seen to have; `undefined` until it was asked. */
  readonly head: () => number | undefined
  /** Call this for every attempt, when it has ended or was stopped: once for each call that was sent. */
  readonly observe: (outcome: CallOutcome) => void
}
