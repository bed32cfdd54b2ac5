import type { Network } from '../../lib/network.ts'
import type { RejectionReason } from '../../errors/rejection.ts'

/**
 * The outcome of a call. `reverted`: the contract reverted, or its execution failed. `nodeError`: a node responded with another error. A rejected
 * call has the rejection's reason; `disconnected`: the caller disconnected before the response.
 */
export type Outcome = 'succeeded' | 'reverted' | 'nodeError' | 'upstreamFailed' | 'disconnected' | RejectionReason

/**
 * Whether a call with this outcome failed. One that reverted did not: the service and its nodes worked, and the contract decided.
 * @param outcome - An `Outcome`.
 */
export const isFailure = (outcome: string): boolean => outcome !== 'succeeded' && outcome !== 'reverted'

/** Outcomes of forwarded calls. Only these have a latency. */
export const forwardedOutcomes: ReadonlySet<string> = new Set(['succeeded', 'reverted', 'nodeError', 'upstreamFailed'])

/** The method that notifications of subscriptions are counted as. */
export const notificationMethod = 'eth_subscription'

/** The method that opened WebSockets are counted as. */
export const connectionMethod = 'websocket'

/** The key that a call is counted for. */
export interface MeteredKey {
  readonly id: string
  readonly appId?: string | undefined
  readonly userId?: string | undefined
}

/** What calls used, besides their number. */
export interface MeteredUse {
  /** What the limits charged them. */
  readonly units: number
  /** The bytes of their results. */
  readonly bytes: number
  /** How many of the calls had their result in the chain store. @default 0 */
  readonly stored?: number | undefined
  /** The UTC day that the limits charged them to, such as `2026-11-21`. They count for it, even if they ended on the next one. @default today */
  readonly day?: string | undefined
}

/** Counts the calls of known keys. It never overcounts: after a crash, counts that may not have been written are lost. */
export interface Meter {
  /**
   * Counts calls of one request that had the same outcome.
   * @param method - The method label of the policy: `other` for methods outside the schema.
   * @param durationMs - From admission to completion; `undefined` if it took no time of its own, like a notification.
   * @param calls - How many. @default 1
   * @param use - What they used. @default nothing
   */
  count(
    key: MeteredKey,
    network: Network,
    method: string,
    outcome: Outcome,
    durationMs: number | undefined,
    calls?: number,
    use?: MeteredUse,
  ): void
  /**
   * Writes all counts made before this call.
   * @throws {StorageError} if they cannot be written now. They are not lost: the next write includes them.
   */
  flush(): Promise<void>
  /** Stops counting and writes the remaining counts. Never rejects: counts that cannot be written are lost and reported as `meterLost`. */
  close(): Promise<void>
}

/** The background tasks of a meter. */
export type MeterWork = 'write' | 'rollUp'

/** How far a meter is behind, and what failed since it started. */
export interface MeterStatus {
  /** The age of the oldest count that is not written, in milliseconds; 0 if all are written. */
  readonly lagMs: number
  /** How many rows (one per key and minute) have counts that are not written. */
  readonly backlogRows: number
  /** How long ago the oldest hour ended that is not rolled up, in milliseconds; 0 if none is due. Up to 2 minutes are normal. */
  readonly rollUpLagMs: number
  readonly lostCalls: number
  /** How many stored rows a roll-up could not parse, and skipped. */
  readonly skippedRows: number
  /** How often each kind of work failed. */
  readonly failures: Readonly<Record<MeterWork, number>>
}

/** A meter that writes to the storage. */
export interface StoredMeter extends Meter {
  /** Cheap: it reads only memory. */
  status(): MeterStatus
}

/** Events of a meter. */
export type MeterEvent =
  /** Counts could not be written for so long that the oldest were dropped. */
  | { readonly event: 'meterLost'; readonly calls: number }
  /** Counts could not be written, or not be rolled up. Logged once, however often the retries fail. */
  | { readonly event: 'meterFailed'; readonly work: MeterWork; readonly state: 'started'; readonly code?: string }
  /** The work succeeded again, after this many failures. */
  | { readonly event: 'meterFailed'; readonly work: MeterWork; readonly state: 'ended'; readonly failures: number }
  /** A roll-up skipped rows that it could not parse. `at` is the start of the hour or day, in milliseconds since 1970. */
  | {
      readonly event: 'meterRowsSkipped'
      readonly table: 'usage_minutes' | 'usage_hours'
      readonly at: number
      readonly rows: number
    }
