import type { Network } from '../../lib/network.ts'
import type { RejectionReason } from '../../errors/rejection.ts'

/** How an item ended. Where the gateway rejected it, by its reason; `disconnected`: its caller did not wait for the answer. */
export type Outcome = 'succeeded' | 'nodeError' | 'upstreamFailed' | 'disconnected' | RejectionReason

/** Whose item it was. */
export interface MeteredKey {
  readonly id: string
  readonly appId?: string | undefined
  readonly userId?: string | undefined
}

/** Counts what came with a known key. It never counts too much: what a crash makes uncertain is not counted. */
export interface Meter {
  /**
   * Counts items of one request that ended alike.
   * @param method - The policy's label: `other` for what is outside the schema.
   * @param durationMs - From admission to the end.
   * @param items - How many. @default 1
   */
  count(key: MeteredKey, network: Network, method: string, outcome: Outcome, durationMs: number, items?: number): void
  /**
   * Writes what was counted before the call.
   * @throws {StorageError} where it cannot be written now. Nothing is lost by that: it is written with what comes later.
   */
  flush(): Promise<void>
  /** Writes what is left, and counts nothing more. Never rejected: what cannot be written is lost, and told. */
  close(): Promise<void>
}
