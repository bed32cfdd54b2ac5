import type { MetricsRange } from '@keyrail/gateway'

const ranges: readonly unknown[] = ['hour', 'day', 'week', 'month', 'quarter'] satisfies MetricsRange[]

/** Reads the time range of a metrics page from its URL. */
export const readRange = ({ range }: Record<string, unknown>): { range?: MetricsRange } =>
  ranges.includes(range) ? { range: range as MetricsRange } : {}

/** Reads the search text of a list from its URL. The router parses a text such as `7` as a number. */
export const readSearch = ({ search }: Record<string, unknown>): { search?: string } =>
  (typeof search === 'string' && search !== '') || typeof search === 'number' ? { search: String(search) } : {}
