/** The selection of requests that are recorded. */
export interface RequestLogSettings {
  /** One in this many successful requests of a key is recorded, besides the first of each minute. @default 100 */
  readonly sample: number
  /** How many successful requests of a key are recorded at the start of each minute. @default 20 */
  readonly firstPerMinute: number
  /** Most failed requests, as many reverted ones and as many sampled ones, of a key in a minute. @default 60 */
  readonly maxPerKeyAndMinute: number
  /** Most requests of all keys in a minute. Half of them are for the first 5 of each key. @default 1_000 */
  readonly maxPerMinute: number
  /** About how many requests are stored of a key. @default 10_000 */
  readonly maxPerKey: number
}

/** The default settings. */
export const defaultRequestLogSettings: RequestLogSettings = Object.freeze({
  sample: 100,
  firstPerMinute: 20,
  maxPerKeyAndMinute: 60,
  maxPerMinute: 1_000,
  maxPerKey: 10_000,
})
