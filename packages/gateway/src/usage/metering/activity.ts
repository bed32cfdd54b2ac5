/** A query for the activity of all keys of a user. */
export interface ActivityQuery {
  readonly userId: string
  /** Milliseconds since 1970: the start of an hour. */
  readonly from: number
  /** How many hours. */
  readonly hours: number
}

/** Requests by hour, and the last one. Notifications of subscriptions and opened WebSockets do not count as requests. */
export interface Activity {
  /** One number per hour, the oldest first. */
  readonly totals: readonly number[]
  /** How many of them failed. */
  readonly failures: readonly number[]
  /**
   * The start of the minute of the last call, rejected ones included; of the hour or day if its minutes or hours are past their retention.
   * `null`: never used.
   */
  readonly lastAt: number | null
}

/** The activity of one key. */
export interface KeyActivity extends Activity {
  readonly keyId: string
  /** `null` for an API key. */
  readonly appId: string | null
}

/**
 * Reads the activity of every key that a user has ever used.
 * @throws {StorageError} if the database is unreachable.
 */
export type ReadActivity = (query: ActivityQuery) => Promise<readonly KeyActivity[]>

/** A query for the traffic of a key. */
export interface TrafficQuery {
  readonly keyId: string
  /** When the key was rotated, in milliseconds since 1970; `null`: never. */
  readonly rotatedAt: number | null
  /** Milliseconds since 1970: the start of an hour. */
  readonly from: number
  /** How many hours. */
  readonly hours: number
}

/**
 * Reads the activity of a key and of the one that it replaced at the last rotation. All calls in the minute of the rotation
 * count for the old key: a new key that nobody has used yet must not look used.
 * @throws {StorageError} if the database is unreachable.
 */
export type ReadTraffic = (query: TrafficQuery) => Promise<{ readonly current: Activity; readonly old: Activity }>
