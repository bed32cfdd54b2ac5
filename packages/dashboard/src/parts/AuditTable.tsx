import { useInfiniteQuery } from '@tanstack/react-query'
import type { AuditEntryView } from '@keyrail/gateway'
import type { auditQuery } from '../control/queries.ts'
import { Button } from './Button.tsx'
import { Card } from './Card.tsx'
import { Loaded } from './Loaded.tsx'
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
            {query.hasNextPage && (
              <div className="row">
                <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                  Show more
                </Button>
              </div>
            )}
          </Card>
        )
      }}
    </Loaded>
  )
}

const wordOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(wordOf).join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function Row({ entry }: { readonly entry: AuditEntryView }) {
  const detail = Object.entries(entry.detail ?? {})
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${name}: ${wordOf(value)}`)
    .join(', ')
  return (
    <tr>
      <td className="number">
        <time dateTime={entry.at}>{momentText(entry.at)}</time>
      </td>
      <th scope="row">
        <code>{entry.action}</code>
        {detail !== '' && <p className="hint break">{detail}</p>}
      </th>
      <td data-label="To what">
        <code className="break">{entry.subject ?? '–'}</code>
      </td>
      <td data-label="From where" className="break">
        {entry.ip ?? '–'}
        {entry.actor !== entry.userId && <p className="hint">by {entry.actor}</p>}
      </td>
    </tr>
  )
}
