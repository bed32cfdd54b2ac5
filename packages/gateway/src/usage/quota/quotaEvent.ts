/** What a quota tells of its work. */
export type QuotaEvent =
  | { readonly event: 'quotaDegraded'; readonly state: 'began' }
  /** What was granted without the database, and is booked now. */
  | {
      readonly event: 'quotaDegraded'
      readonly state: 'ended'
      readonly accounts: number
      readonly items: number
      readonly durationMs: number
    }
  /** Items that were granted without the database and could not be booked before the end. */
  | { readonly event: 'quotaLost'; readonly items: number }
