/** The account that a request is charged to, with its current limits. */
export interface QuotaAccount {
  /** `user:usr_…` for all API keys of a user, `app:app_…` for an app. */
  readonly id: string
  /** Calls per UTC day; `null`: no limit. */
  readonly perDay: number | null
  /** Calls per UTC calendar month; `null`: no limit. */
  readonly perMonth: number | null
}

/** A quota's decision on one request. */
export interface QuotaGrant {
  /** How many of the calls are granted: all, the first few of a batch, or none. */
  readonly granted: number
  /** The window that had too little left, if not all calls were granted. */
  readonly rejectedBy?: 'day' | 'month'
  /** The limit of the window that rejected, otherwise of the day, or of the month if the day has no limit. `null`: no limit. */
  readonly limit: number | null
  /** What remains of that window, as far as this instance knows. `null`: no limit. */
  readonly remaining: number | null
  /** When that window ends, in milliseconds since 1970. */
  readonly resetAtMs: number
  readonly account: QuotaAccount
  /** The UTC day that the calls are charged to: `2026-11-21`. */
  readonly day: string
}

/** The usage of a window. */
export interface QuotaWindow {
  readonly used: number
  readonly limit: number | null
  /** When it ends, in milliseconds since 1970. */
  readonly resetAtMs: number
}

/**
 * A durable counter of calls per day and month. It errs on the safe side: after a crash, calls that may have been used count as used.
 */
export interface Quota {
  /**
   * Charges the calls of one request that passed all other checks. Call it once per request.
   * @param calls - 1 or more: one for each call of a batch.
   * @returns A plain value if the account's reserved block has enough or the quota is used up, otherwise a promise that resolves once more is reserved.
   * The promise rejects with a `StorageError` if the database is unreachable and nothing may be granted without it: a 503, never `quota_exceeded`.
   */
  take(account: QuotaAccount, calls: number): QuotaGrant | Promise<QuotaGrant>
  /**
   * Returns calls that no node received: at most as many as the grant has, and none after its day has ended.
   */
  giveBack(grant: QuotaGrant, calls: number): void
  /**
   * Returns the usage of an account's windows. On a cluster it may be too high by up to one block per other instance, for about a second.
   * @throws {StorageError}
   */
  usage(account: QuotaAccount): Promise<{ readonly day: QuotaWindow; readonly month: QuotaWindow }>
  /** Returns unused reservations and rejects further calls. */
  close(): Promise<void>
}
