import { defaultRequestLogSettings } from '../usage/requestLog/createRequestLog.ts'
import { flag, object, whole } from './configSchema.ts'

const { sample, firstPerMinute, maxPerKeyAndMinute, maxPerMinute, maxPerKey } = defaultRequestLogSettings

/** The schema of `requestLog`. */
export const requestLog = object({
  /** Whether requests are recorded. @default true */
  enabled: flag().default(true),
  /** One in this many successful requests of a key is recorded, besides the first of each minute. @default 100 */
  sample: whole(1, 1_000_000).default(sample),
  /** How many successful requests of a key are recorded at the start of each minute. @default 20 */
  firstPerMinute: whole(0, 10_000).default(firstPerMinute),
  /** Most failed requests, and as many sampled ones, that an instance records of a key in a minute. @default 60 */
  maxPerKeyAndMinute: whole(0, 10_000).default(maxPerKeyAndMinute),
  /** Most requests that an instance records in a minute. Half of them are for the first 5 of each key. @default 1000 */
  maxPerMinute: whole(1, 1_000_000).default(maxPerMinute),
  /** About how many requests are stored of a key; the oldest are removed. @default 10_000 */
  maxPerKey: whole(100, 1_000_000).default(maxPerKey),
}).prefault({})
