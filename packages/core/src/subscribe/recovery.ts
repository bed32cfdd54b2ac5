import { isKeyrailError } from '../failure/keyrailError.ts'
import type { PollSchedule } from './pollSchedule.ts'
import type { SubscriptionOptions } from './subscription.ts'

/** Decides whether a subscription continues after a failure. */
export interface Recovery {
  /** An attempt has succeeded. */
  readonly succeeded: () => void
  /**
   * Reports a failure to `onError`.
   * @returns The delay before the next attempt, in milliseconds.
   * @throws The failure itself if it is not retryable.
   */
  readonly failed: (error: unknown) => number
}

/** Creates the failure handling of a subscription: each retryable failure in a row doubles the delay, up to 30 s. */
export function createRecovery(
  schedule: PollSchedule,
  signal: AbortSignal,
  onError: SubscriptionOptions['onError'],
): Recovery {
  let failures = 0
  return {
    succeeded: () => {
      failures = 0
    },
    failed: (error) => {
      if (signal.aborted || !isKeyrailError(error) || !error.retryable) throw error
      failures++
      const waitMs = schedule.afterFailure(failures, error.retryAfterMs)
      onError?.({ error, failures, waitMs })
      return waitMs
    },
  }
}
