import type { Network } from '../../lib/network.ts'
import type { RejectionReason } from '../../errors/rejection.ts'

/** The outcome of a call. A rejected call has the rejection's reason; `disconnected`: the caller disconnected before the response. */
export type Outcome = 'succeeded' | 'nodeError' | 'upstreamFailed' | 'disconnected' | RejectionReason

/** The key that a call is counted for. */
export interface MeteredKey {
  readonly id: string
  readonly appId?: string | undefined
  readonly userId?: string | undefined
}

/** Counts the calls of known keys. It never overcounts: after a crash, counts that may not have been written are lost. */
export interface Meter {
  /**
   * Counts calls of one request that had the same outcome.
   * @param method - The method label of the policy: `other` for methods outside the schema.
   * @param durationMs - From admission to completion.
   * @param calls - How many. @default 1
   */
  count(key: MeteredKey, network: Network, method: string, outcome: Outcome, durationMs: number, calls?: number): void
  /**
   * Writes all counts made before this call.
   * @throws {StorageError} if they cannot be written now. They are not lost: the next write includes them.
   */
  flush(): Promise<void>
  /** Stops counting and writes the remaining counts. Never rejects: counts that cannot be written are lost and reported as `meterLost`. */
  close(): Promise<void>
}
