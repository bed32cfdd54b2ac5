import { useInfiniteQuery } from '@tanstack/react-query'
import type { AuditEntryView } from '@keyrail/gateway'
import { CsvLink } from '../charts/CsvLink.tsx'
import type { adminAuditQuery, auditQuery } from '../control/queries.ts'
import type { AuditFilters } from '../control/searchParams.ts'
import { AuditRecord } from './AuditRecord.tsx'
import type { FilterName } from './AuditRecord.tsx'
import { actionText, detailText, groups, recordText } from './auditWords.ts'
import { Card } from './Card.tsx'
import { FilterList } from './FilterList.tsx'
import { Loaded } from './Loaded.tsx'
import { SelectField } from './SelectField.tsx'
import { ShowMore } from './ShowMore.tsx'
import { momentText } from './times.ts'
import { TableBox } from './TableBox.tsx'
import { TableHead } from './TableHead.tsx'

interface Filtered {
  readonly filters: AuditFilters
  readonly onFilters: (filters: AuditFilters) => void
  /** Whether it is the log of all accounts. */
  readonly isOperator: boolean
}

/** The entries of an audit log, the newest first. */
export function AuditTable(
  props: Filtered & {
    readonly query: ReturnType<typeof auditQuery> | ReturnType<typeof adminAuditQuery>
    /** The URL of the same entries as CSV. */
    readonly csv: string
  },
) {
  const { filters, onFilters, isOperator } = props
  const query = useInfiniteQuery(props.query as ReturnType<typeof auditQuery>)
  const { action, ...others } = filters
  return (
    <>
      <div className="row low">
        <SelectField
          label="Show"
          name="action"
          value={action ?? 'all'}
          onChange={(value) => onFilters(value === 'all' ? others : { ...others, action: value })}
          options={[
            { value: 'all', title: 'All changes' },
            ...Object.entries(groups).map(([value, title]) => ({ value, title })),
          ]}
        />
        <CsvLink href={props.csv} of="audit log" />
      </div>
      <Loaded query={query}>
        {({ pages }) => {
          const entries = pages.flatMap(({ items }) => items)
          return (
            <>
              <ActiveFilters entries={entries} filters={filters} onFilters={onFilters} />
              <Card>
                {entries.length === 0 ? (
                  <p className="soft">No such changes yet. Choose “All changes” to see others.</p>
                ) : (
                  <TableBox label="Audit log">
                    <table className="table cards audit">
                      <TableHead
                        titles={['Time', 'Change', 'By', 'Subject', ...(isOperator ? ['Account'] : []), 'IP address']}
                      />
                      <tbody>
                        {entries.map((entry) => (
                          <Row
                            key={entry.id}
                            entry={entry}
                            filters={filters}
                            onFilters={onFilters}
                            isOperator={isOperator}
                          />
                        ))}
                      </tbody>
                    </table>
                  </TableBox>
                )}
                <ShowMore of={query} />
              </Card>
            </>
          )
        }}
      </Loaded>
    </>
  )
}

const filterTitles: readonly (readonly [FilterName, string])[] = [
  ['actor', 'By'],
  ['subject', 'Subject'],
  ['userId', 'Account'],
]

/** The names of an entry's records, by the filter that selects them. */
const getNames = (entry: AuditEntryView): Readonly<Record<FilterName, string | null>> => ({
  actor: entry.actorName,
  subject: entry.subjectName,
  userId: entry.userEmail,
})

/** The filters that are on, with the names of their records. */
function ActiveFilters(props: Omit<Filtered, 'isOperator'> & { readonly entries: readonly AuditEntryView[] }) {
  const { entries, filters, onFilters } = props
  const [entry] = entries
  const shown = filterTitles.flatMap(([name, of]) => {
    const { [name]: id, ...others } = filters
    if (id === undefined) return []
    return [
      {
        of,
        title: recordText(id, entry === undefined ? null : getNames(entry)[name]),
        onRemove: () => onFilters(others),
      },
    ]
  })
  return <FilterList filters={shown} />
}

function Row({ entry, filters, onFilters, isOperator }: Filtered & { readonly entry: AuditEntryView }) {
  const detail = detailText(entry.detail ?? {})
  const record = (filter: FilterName, id: string | null) =>
    id === null ? (
      '–'
    ) : (
      <AuditRecord
        id={id}
        name={getNames(entry)[filter]}
        isOperator={isOperator}
        isFiltered={filters[filter] === id}
        onFilter={(isOn) => {
          const { [filter]: _, ...others } = filters
          onFilters(isOn ? { ...others, [filter]: id } : others)
        }}
      />
    )
  return (
    <tr>
      <td className="when">
        <time dateTime={entry.at}>{momentText(entry.at)}</time>
      </td>
      <th scope="row">
        <span title={entry.action}>{actionText(entry.action)}</span>
        {detail !== '' && <p className="hint break">{detail}</p>}
      </th>
      <td data-label="By">{record('actor', entry.actor)}</td>
      <td data-label="Subject">{record('subject', entry.subject)}</td>
      {isOperator && <td data-label="Account">{record('userId', entry.userId)}</td>}
      <td data-label="IP address" className="break">
        {entry.ip ?? '–'}
      </td>
    </tr>
  )
}
