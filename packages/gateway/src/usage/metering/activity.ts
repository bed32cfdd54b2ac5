/** A query for the activity of all keys of a user. */
export interface ActivityQuery {
  readonly userId: string
  /** Milliseconds since 1970: the start of an hour. */
  readonly from: number
  /** How many hours. */
  readonly hours: number
}

/** The requests of one key by hour, and when it was last used. Notifications of subscriptions and opened WebSockets are no requests. */
export interface KeyActivity {
  readonly keyId: string
  /** `null` for an API key. */
  readonly appId: string | null
  /** One number per hour, the oldest first. */
  readonly totals: readonly number[]
  /** How many of them did not succeed. */
  readonly failures: readonly number[]
  /**
   * The start of the minute of the last call, rejected ones included; of the hour or day if its minutes or hours are past their retention.
   * `null`: never used.
   */
  readonly lastAt: number | null
}

/**
 * Reads the activity of every key that a user has ever used.
 * @throws {StorageError} if the database is unreachable.
 */
export type ReadActivity = (query: ActivityQuery) => Promise<readonly KeyActivity[]>
