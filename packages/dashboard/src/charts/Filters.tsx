import { useNetworks } from '../networks/useNetworks.ts'
import { Button } from '../parts/Button.tsx'
import { outcomeTitle } from './outcomeTitle.ts'
import { useMetricsSearch } from './useMetricsSearch.ts'
import type { FilterName } from './useMetricsSearch.ts'

/** The filters that are on, each with a button that ends it. Renders nothing without filters. */
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
    return value === undefined ? [] : [{ name, of, title: toTitle(value) }]
  })
  if (shown.length === 0) return null
  return (
    <div className="row" role="group" aria-label="Filters">
      {shown.map(({ name, of, title }) => (
        <span key={name} className="row">
          <span>
            {of}: <strong>{title}</strong>
          </span>
          <Button
            size="little"
            label={`Remove the filter ${of}: ${title}`}
            onClick={() => change({ [name]: undefined })}
          >
            Remove
          </Button>
        </span>
      ))}
    </div>
  )
}
