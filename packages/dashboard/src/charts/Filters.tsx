import { useNetworks } from '../networks/useNetworks.ts'
import { FilterList } from '../parts/FilterList.tsx'
import { outcomeTitle } from './outcomeTitle.ts'
import { useMetricsSearch } from './useMetricsSearch.ts'
import type { FilterName } from './useMetricsSearch.ts'

/** The filters that are on, each with a button that removes it. */
export function Filters() {
  const { search, change } = useMetricsSearch()
  const { getTitle } = useNetworks()
  const filters: readonly {
    readonly name: FilterName
    readonly of: string
    readonly toTitle: (v: string) => string
  }[] = [
    { name: 'method', of: 'Method', toTitle: (method) => method },
    { name: 'outcome', of: 'Outcome', toTitle: outcomeTitle },
    { name: 'network', of: 'Network', toTitle: getTitle },
  ]
  const shown = filters.flatMap(({ name, of, toTitle }) => {
    const value = search[name]
    return value === undefined ? [] : [{ of, title: toTitle(value), onRemove: () => change({ [name]: undefined }) }]
  })
  return <FilterList filters={shown} />
}
