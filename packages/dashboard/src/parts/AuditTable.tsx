import { useInfiniteQuery } from '@tanstack/react-query'
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import { CsvLink } from '../charts/CsvLink.tsx'
import { toPath } from '../control/callApi.ts'
import type { AuditEntryView, ControlApi } from '@keyrail/gateway'
import type { auditQuery } from '../control/queries.ts'
import { actionText, detailText, groups, kindText } from './auditWords.ts'
import { Card } from './Card.tsx'
import { Loaded } from './Loaded.tsx'
import { SelectField } from './SelectField.tsx'
import { ShowMore } from './ShowMore.tsx'
import { momentText } from './times.ts'

/** The entries of an audit log, the newest first. */
export function AuditTable(props: {
  readonly of: typeof auditQuery
  readonly csv: 'GET /api/audit-log.csv' | 'GET /api/admin/audit-log.csv'
  /** The group of actions that is shown. @default all */
  readonly action: string | undefined
  readonly onAction: (action: string | undefined) => void
}) {
  const { action } = props
  const query = useInfiniteQuery(props.of(action))
  return (
    <>
      <div className="row">
        <SelectField
          label="Show"
          name="action"
          value={action ?? 'all'}
          onChange={(value) => props.onAction(value === 'all' ? undefined : value)}
          options={[
            { value: 'all', title: 'All changes' },
            ...Object.entries(groups).map(([value, title]) => ({ value, title })),
          ]}
        />
        <CsvLink href={toPath(props.csv, { query: action === undefined ? {} : { action } })} of="audit log" />
      </div>
      <Entries query={query} />
    </>
  )
}

function Entries({
  query,
}: {
  readonly query: UseInfiniteQueryResult<InfiniteData<ControlApi['GET /api/audit-log']['response']>>
}) {
  return (
    <Loaded query={query}>
      {({ pages }) => {
        const entries = pages.flatMap(({ items }) => items)
        return (
          <Card>
            {entries.length === 0 ? (
              <p className="soft">No such changes yet. Choose “All changes” to see others.</p>
            ) : (
              <div className="table-box" tabIndex={0} role="region" aria-label="Audit log">
                <table className="table cards">
                  <thead>
                    <tr>
                      <th scope="col">Time</th>
                      <th scope="col">Change</th>
                      <th scope="col">Subject</th>
                      <th scope="col">IP address</th>
                    </tr>
                  </thead>
                  <tbody>
                    {entries.map((entry) => (
                      <Row key={entry.id} entry={entry} />
                    ))}
                  </tbody>
                </table>
              </div>
            )}
            <ShowMore of={query} />
          </Card>
        )
      }}
    </Loaded>
  )
}

function Row({ entry }: { readonly entry: AuditEntryView }) {
  const detail = detailText(entry.detail ?? {})
  const kind = entry.subject === null ? undefined : kindText(entry.subject)
  return (
    <tr>
      <td className="when">
        <time dateTime={entry.at}>{momentText(entry.at)}</time>
      </td>
      <th scope="row">
        <span title={entry.action}>{actionText(entry.action)}</span>
        {detail !== '' && <p className="hint break">{detail}</p>}
      </th>
      <td data-label="Subject">
        {kind}
        <p className="hint">
          <code>{entry.subject ?? '–'}</code>
        </p>
      </td>
      <td data-label="IP address" className="break">
        {entry.ip ?? '–'}
        {entry.actor !== entry.userId && <p className="hint">by {entry.actor}</p>}
      </td>
    </tr>
  )
}
