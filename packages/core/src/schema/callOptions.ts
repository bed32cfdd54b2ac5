/** Which calls are sent first when calls queue: writes before reads, reads before polling. */
export type Priority = 'write' | 'read' | 'poll'

/** Options of a single call. */
export interface CallOptions {
  /** Aborts the call. It then rejects with `signal.reason`, unchanged. */
  readonly signal?: AbortSignal | undefined
  /** Time limit for the whole call, retries included, in milliseconds. @default 10_000, 60_000 for expensive methods */
  readonly timeoutMs?: number | undefined
  /** Maximum number of retries, where the transport retries; 0 for none. @default the transport's own number */
  readonly retries?: number | undefined
  /** Position in the queue when calls wait for a budget or for a free slot. @default 'write' for methods that change something, 'read' for others */
  readonly priority?: Priority | undefined
  /** Only nodes at this block or later may respond; `true`: at the highest block seen so far or later. Needs `endpoints: failover([…])`. @default the `minBlock` of `failover`, or no limit */
  readonly minBlock?: number | bigint | boolean | undefined
}
