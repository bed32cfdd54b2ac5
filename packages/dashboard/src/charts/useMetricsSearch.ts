import { useNavigate, useSearch } from '@tanstack/react-router'
import { readMetricsSearch } from '../control/searchParams.ts'
import type { MetricsSearch } from '../control/searchParams.ts'

/** What the requests on a metrics page can be filtered by. */
export type FilterName = 'method' | 'outcome' | 'network'

/** Members to change; `undefined` removes one. */
export type MetricsChange = { readonly [Name in keyof MetricsSearch]?: MetricsSearch[Name] | undefined }

/** The time range and the filters of a metrics page, which are in its URL, and a function that changes some of them. */
export function useMetricsSearch(): {
  readonly search: MetricsSearch
  readonly change: (members: MetricsChange) => void
} {
  const search = readMetricsSearch(useSearch({ strict: false }))
  const navigate = useNavigate()
  return {
    search,
    change: (members) =>
      void navigate({ to: '.', search: readMetricsSearch({ ...search, ...members }), resetScroll: false }),
  }
}
