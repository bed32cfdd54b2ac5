import { Link } from '@tanstack/react-router'
import type { RequestEntryView } from '@keyrail/gateway'
import { memo } from 'react'
import { outcomeTitle } from '../charts/outcomeTitle.ts'
import type { KeySubject, RequestsPage } from '../control/queries.ts'
import type { RequestFilters } from '../control/searchParams.ts'
import { useNetworks } from '../networks/useNetworks.ts'
import { msText, shortMomentText } from '../parts/times.ts'
import { methodText } from './methodText.ts'

/** Requests, each with a link to its page. */
export function RequestTable(props: {
  readonly subject: KeySubject
  readonly filters: RequestFilters
  readonly pages: readonly RequestsPage[]
}) {
  const { subject, filters, pages } = props
  const { getTitle } = useNetworks()
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Table of requests">
      <table className="table cards requests">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Method</th>
            <th scope="col">Outcome</th>
            <th scope="col">Network</th>
            <th scope="col" className="number">
              Latency
            </th>
            <th scope="col">Key</th>
            <th scope="col">From</th>
          </tr>
        </thead>
        {pages.map(({ items }, at) => (
          <Rows key={at} requests={items} subject={subject} filters={filters} getTitle={getTitle} />
        ))}
      </table>
    </div>
  )
}

interface RowContext {
  readonly subject: KeySubject
  readonly filters: RequestFilters
  readonly getTitle: (network: string) => string
}

/** Rendered again only if it changes, as each row: there can be thousands. */
const Rows = memo(function Rows({
  requests,
  ...context
}: RowContext & { readonly requests: readonly RequestEntryView[] }) {
  return (
    <tbody>
      {requests.map((request) => (
        <Row key={request.id} request={request} {...context} />
      ))}
    </tbody>
  )
})

const Row = memo(function Row(props: RowContext & { readonly request: RequestEntryView }) {
  const { request, subject, filters, getTitle } = props
  const isGood = request.outcome === 'succeeded'
  return (
    <tr>
      <td className="when">
        <time dateTime={request.at}>{shortMomentText(request.at)}</time>
      </td>
      <th scope="row" className="mono">
        {'appId' in subject ? (
          <Link to="/apps/$appId/requests/$logId" params={{ ...subject, logId: request.id }} search={filters}>
            {methodText(request)}
          </Link>
        ) : (
          <Link to="/keys/$keyId/requests/$logId" params={{ ...subject, logId: request.id }} search={filters}>
            {methodText(request)}
          </Link>
        )}
      </th>
      <td data-label="Outcome">
        <span className={isGood ? 'badge good' : 'badge bad'}>{request.status}</span> {outcomeTitle(request.outcome)}
        {request.outcome === 'nodeError' && request.message !== null && <p className="hint break">{request.message}</p>}
      </td>
      <td data-label="Network">{getTitle(request.network)}</td>
      <td data-label="Latency" className="number">
        {msText(request.durationMs)}
      </td>
      <td data-label="Key" className="when">
        {request.keyEnding === null ? 'JWT' : `…${request.keyEnding}`}
      </td>
      <td data-label="From" className="break">
        {request.origin?.replace(/^https?:\/\//, '') ?? request.ipBlock ?? '–'}
      </td>
    </tr>
  )
})
