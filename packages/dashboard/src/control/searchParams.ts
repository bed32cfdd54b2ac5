import type { MetricsRange } from '@keyrail/gateway'

const ranges: readonly unknown[] = ['hour', 'day', 'week', 'month', 'quarter'] satisfies MetricsRange[]

/** Reads the time range of a metrics page from its URL. */
export const readRange = ({ range }: Record<string, unknown>): { range?: MetricsRange } =>
  ranges.includes(range) ? { range: range as MetricsRange } : {}

/** Reads the search text of a list from its URL. The router parses a text such as `7` as a number. */
export const readSearch = ({ search }: Record<string, unknown>): { search?: string } =>
  (typeof search === 'string' && search !== '') || typeof search === 'number' ? { search: String(search) } : {}

/** The filters of a request log. */
export interface RequestFilters {
  readonly method?: string
  /** An outcome, or `failed` for all failures. */
  readonly outcome?: string
  readonly network?: string
  /** The last four characters of the key. */
  readonly key?: string
}

/** Reads the filters of a request log from its URL. The router parses a text such as `7` as a number. */
export const readRequestFilters = (search: Record<string, unknown>): RequestFilters =>
  Object.fromEntries(
    (['method', 'outcome', 'network', 'key'] satisfies (keyof RequestFilters)[]).flatMap((name) => {
      const value = search[name]
      return (typeof value === 'string' && value !== '') || typeof value === 'number' ? [[name, String(value)]] : []
    }),
  )
