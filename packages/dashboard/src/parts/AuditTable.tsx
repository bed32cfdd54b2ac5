import { useInfiniteQuery } from '@tanstack/react-query'
import type { AuditEntryView } from '@keyrail/gateway'
import type { auditQuery } from '../control/queries.ts'
import { actionText, detailText, kindText } from './auditWords.ts'
import { Card } from './Card.tsx'
import { Loaded } from './Loaded.tsx'
import { ShowMore } from './ShowMore.tsx'
import { momentText } from './times.ts'

/** What was done, the newest first. */
export function AuditTable({ of }: { readonly of: typeof auditQuery }) {
  const query = useInfiniteQuery(of)
  return (
    <Loaded query={query}>
      {({ pages }) => {
        const entries = pages.flatMap(({ items }) => items)
        return (
          <Card>
            {entries.length === 0 ? (
              <p className="soft">Nothing was done yet.</p>
            ) : (
              <div className="table-box" tabIndex={0} role="region" aria-label="Audit log">
                <table className="table cards">
                  <thead>
                    <tr>
                      <th scope="col">When</th>
                      <th scope="col">What</th>
                      <th scope="col">To what</th>
                      <th scope="col">From where</th>
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
      <td data-label="To what">
        {kind}
        <p className="hint">
          <code>{entry.subject ?? '–'}</code>
        </p>
      </td>
      <td data-label="From where" className="break">
        {entry.ip ?? '–'}
        {entry.actor !== entry.userId && <p className="hint">by {entry.actor}</p>}
      </td>
    </tr>
  )
}
