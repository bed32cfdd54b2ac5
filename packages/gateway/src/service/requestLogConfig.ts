import { flag, object, whole } from '../proxy/options/fields.ts'
import { defaultRequestLogSettings } from '../usage/requestLog/createRequestRecorder.ts'

const { sample, firstPerMinute, maxPerKeyAndMinute, maxPerMinute, maxPerKey } = defaultRequestLogSettings

/** The schema of `requestLog`. */
export const requestLogConfig = object({
  enabled: flag().default(true).describe('Whether requests are recorded for users.'),
  sample: whole(1, 1_000_000).default(sample).describe('One in this many successful requests of a key is recorded.'),
  firstPerMinute: whole(0, 10_000)
    .default(firstPerMinute)
    .describe('How many successful requests of a key are recorded at the start of each minute, in addition.'),
  maxPerKeyAndMinute: whole(0, 10_000)
    .default(maxPerKeyAndMinute)
    .describe(
      'Most failed requests of a key that are recorded in a minute, as many reverted ones, and as many sampled ones.',
    ),
  maxPerMinute: whole(1, 1_000_000)
    .default(maxPerMinute)
    .describe(
      'Most requests of all keys that are recorded in a minute. Half of them are for the first 5 of each key, so that a few keys cannot use up all. A log of 3 days at this rate has 4.3 million requests, which take 1 to 2 GB.',
    ),
  maxPerKey: whole(100, 1_000_000)
    .default(maxPerKey)
    .describe('About how many requests of a key are stored. The oldest are removed.'),
}).prefault({})
