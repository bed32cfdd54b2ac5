import type * as PromClient from 'prom-client'
import type { KeyCacheState } from '../auth/key/createStoredKeys.ts'
import { registerMetric } from './registerMetric.ts'

/** Registers the metrics of the key cache, which are read at each scrape. */
export const registerKeys = (read: () => KeyCacheState, registers: readonly PromClient.Registry[]): void => {
  registerMetric(registers, {
    name: 'keyrail_key_cache_entries',
    help: 'Keys in memory.',
    type: 'gauge',
    samples: () => [{ value: read().entries }],
  })
  registerMetric(registers, {
    name: 'keyrail_key_cache_max_entries',
    help: 'The most keys in memory.',
    type: 'gauge',
    samples: () => [{ value: read().maxEntries }],
  })
  registerMetric(registers, {
    name: 'keyrail_key_cache_hits_total',
    help: 'Key lookups that memory had the result of, unknown keys included.',
    type: 'counter',
    samples: () => [{ value: read().hits }],
  })
  registerMetric(registers, {
    name: 'keyrail_key_cache_misses_total',
    help: 'Key lookups that read the database.',
    type: 'counter',
    samples: () => [{ value: read().misses }],
  })
}
