/** Whose quota a request is taken from, with the limits in force for it now. */
export interface QuotaAccount {
  /** `user:usr_…` for all API keys of a user, `app:app_…` for an app. */
  readonly id: string
  /** Items a UTC day; `null`: no limit. */
  readonly perDay: number | null
  /** Items a UTC calendar month; `null`: no limit. */
  readonly perMonth: number | null
}

/** What a quota says of one request. */
export interface QuotaGrant {
  /** How many of the items may go on: all, the first few of a batch, or none. */
  readonly granted: number
  /** Which window had too little left, where not all were granted. */
  readonly rejectedBy?: 'day' | 'month'
  /** Of the window that rejected; else of the day, or of the month where the day has no limit. `null`: no limit. */
  readonly limit: number | null
  /** What is left of that window now, as far as this instance knows. `null`: no limit. */
  readonly remaining: number | null
  /** When that window ends, in milliseconds since 1970. */
  readonly resetAtMs: number
  readonly account: QuotaAccount
  /** The UTC day that the items were taken from: `2026-11-21`. */
  readonly day: string
}

/** How much of a window is used. */
export interface QuotaWindow {
  readonly used: number
  readonly limit: number | null
  /** When it ends, in milliseconds since 1970. */
  readonly resetAtMs: number
}

/**
 * A durable counter of items a day and a month. It errs to the safe side: what a crash makes uncertain counts as used.
 */
export interface Quota {
  /**
   * Takes items for one request: once, with the number of items that passed all other checks.
   * @param items - 1 or more: one for each item of a batch.
   * @returns A plain value whenever the account's reserved block has enough, or nothing more is to be had; else a promise, kept when more is reserved.
   * The promise is rejected with a `StorageError` where the database cannot be asked and nothing may be granted without it: a 503, never `quota_exceeded`.
   */
  take(account: QuotaAccount, items: number): QuotaGrant | Promise<QuotaGrant>
  /**
   * Returns items whose calls no node received. Of one grant, never more than it granted; nothing after its day has ended.
   */
  giveBack(grant: QuotaGrant, items: number): void
  /**
   * What is used of an account's windows. On a cluster it may count up to one block of each other instance too many, for about a second.
   * @throws {StorageError}
   */
  usage(account: QuotaAccount): Promise<{ readonly day: QuotaWindow; readonly month: QuotaWindow }>
  /** Gives back what is reserved and not used, and takes nothing more. */
  close(): Promise<void>
}
