/** Events of a quota. */
export type QuotaEvent =
  | { readonly event: 'quotaDegraded'; readonly state: 'started' }
  /** The database is back. `calls` were granted without it and are being written now. */
  | {
      readonly event: 'quotaDegraded'
      readonly state: 'ended'
      readonly accounts: number
      readonly calls: number
      readonly durationMs: number
    }
  /** Calls that were granted without the database and could not be written before the process exited. */
  | { readonly event: 'quotaLost'; readonly calls: number }
