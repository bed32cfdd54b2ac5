import { useQuery } from '@tanstack/react-query'
import type { RequestEntryView } from '@keyrail/gateway'
import { outcomeTitle } from '../charts/outcomeTitle.ts'
import { metricsQuery } from '../control/queries.ts'
import type { KeySubject } from '../control/queries.ts'
import type { RequestFilters } from '../control/searchParams.ts'
import { useNetworks } from '../networks/useNetworks.ts'
import { SelectField } from '../parts/SelectField.tsx'

const any = 'any'

interface Option {
  readonly value: string
  readonly title: string
}

/** The options of a filter: all values, each value once, and the chosen one even if no request has it. */
const toOptions = (
  values: readonly (string | null)[],
  chosen: string | undefined,
  getTitle: (value: string) => string = (value) => value,
): readonly Option[] =>
  [...new Set([...values, ...(chosen === undefined ? [] : [chosen])])]
    .filter((value) => value !== null)
    .map((value) => ({ value, title: getTitle(value) }))
    .sort((one, other) => one.title.localeCompare(other.title))

/** The filters of a request log. Their options are the methods and outcomes of the last seven days, and those of the loaded requests. */
export function FilterFields(props: {
  readonly subject: KeySubject
  readonly filters: RequestFilters
  readonly onChange: (filters: RequestFilters) => void
  readonly networks: readonly string[]
  readonly requests: readonly RequestEntryView[]
}) {
  const { subject, filters, onChange, networks, requests } = props
  const { getTitle } = useNetworks()
  const { data: metrics } = useQuery({ ...metricsQuery(subject, 'week'), staleTime: 60_000 })
  const methods = [...(metrics?.byMethod ?? []), ...requests].map(({ method }) => method)
  const outcomes = [...(metrics?.byOutcome ?? []), ...requests].map(({ outcome }) => outcome)
  const keyEndings = toOptions(
    requests.map(({ keyEnding }) => keyEnding),
    filters.key,
    (ending) => `…${ending}`,
  )
  const change = (name: keyof RequestFilters, value: string): void => {
    const { [name]: _, ...others } = filters
    onChange(value === any ? others : { ...others, [name]: value })
  }
  const field = (label: string, name: keyof RequestFilters, options: readonly Option[]) => (
    <SelectField
      label={label}
      name={name}
      value={filters[name] ?? any}
      onChange={(value) => change(name, value)}
      options={options}
    />
  )
  return (
    <div className="selects">
      {field('Outcome', 'outcome', [
        { value: any, title: 'All' },
        { value: 'failed', title: 'All failures' },
        ...toOptions(outcomes, filters.outcome === 'failed' ? undefined : filters.outcome, outcomeTitle),
      ])}
      {field('Method', 'method', [{ value: any, title: 'All' }, ...toOptions(methods, filters.method)])}
      {(networks.length > 1 || filters.network !== undefined) &&
        field('Network', 'network', [{ value: any, title: 'All' }, ...toOptions(networks, filters.network, getTitle)])}
      {(keyEndings.length > 1 || filters.key !== undefined) &&
        field('Key', 'key', [{ value: any, title: 'All' }, ...keyEndings])}
    </div>
  )
}
