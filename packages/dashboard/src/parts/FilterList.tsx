import { Button } from './Button.tsx'

/** A filter that is on. */
export interface ShownFilter {
  /** What it filters by. */
  readonly of: string
  readonly title: string
  readonly onRemove: () => void
}

/** The filters that are on, each with a button that removes it. Renders nothing without filters. */
export function FilterList({ filters }: { readonly filters: readonly ShownFilter[] }) {
  if (filters.length === 0) return null
  return (
    <div className="row" role="group" aria-label="Filters">
      {filters.map(({ of, title, onRemove }) => (
        <span key={of} className="row">
          <span>
            {of}: <strong>{title}</strong>
          </span>
          <Button size="little" label={`Remove the filter ${of}: ${title}`} onClick={onRemove}>
            Remove
          </Button>
        </span>
      ))}
    </div>
  )
}
