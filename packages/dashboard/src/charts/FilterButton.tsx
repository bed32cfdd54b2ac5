import { useMetricsSearch } from './useMetricsSearch.ts'
import type { FilterName } from './useMetricsSearch.ts'

/** The name of a table row, which filters the page by it, or ends that filter. */
export function FilterButton(props: {
  readonly name: FilterName
  readonly value: string
  readonly title: React.ReactNode
}) {
  const { search, change } = useMetricsSearch()
  const isOn = search[props.name] === props.value
  return (
    <button
      type="button"
      className="filter"
      aria-pressed={isOn}
      title={isOn ? 'Show all' : 'Show only this'}
      onClick={() => change({ [props.name]: isOn ? undefined : props.value })}
    >
      {props.title}
    </button>
  )
}
