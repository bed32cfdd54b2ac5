import type { RequestEntryView } from '@keyrail/gateway'
import { memo, useEffect, useMemo, useState } from 'react'
import type { MouseEvent } from 'react'
import { outcomeKind } from '../charts/outcomeKind.ts'
import type { KeySubject, RequestsPage } from '../control/queries.ts'
import { useNetworks } from '../networks/useNetworks.ts'
import { TableBox } from '../parts/TableBox.tsx'
import { msText, shortMomentText } from '../parts/times.ts'
import { methodText } from './methodText.ts'
import { outcomeText } from './outcomeText.ts'
import { StatusBadge } from './StatusBadge.tsx'
import { toChunks } from './toChunks.ts'
import { useNearViewport } from './useNearViewport.ts'

/** Requests, one a line: a click anywhere on a row opens it. Only rows near the viewport are rendered: there can be thousands. */
export function RequestTable(props: {
  readonly subject: KeySubject
  readonly pages: readonly RequestsPage[]
  /** The id of the open request. */
  readonly open: string | undefined
  readonly onOpen: (id: string) => void
}) {
  const { subject, pages } = props
  const { getTitle } = useNetworks()
  const chunks = useMemo(() => toChunks(pages.map(({ items }) => items)), [pages])
  // All rows are rendered when they load. Otherwise their real heights would move the button below them while it is pressed. Only a long list
  // that is shown again, by Back, starts with estimated heights.
  const [isMounted, setMounted] = useState(false)
  useEffect(() => setMounted(true), [])
  const rowCount = chunks.reduce((sum, { items }) => sum + items.length, 0)
  const path = 'appId' in subject ? `/apps/${subject.appId}/requests` : `/keys/${subject.keyId}/requests`
  // For all rows: a `Link` in each renders with every navigation.
  const openRow = (event: MouseEvent<HTMLElement>): void => {
    const logId = (event.target as Element).closest('a')?.dataset['logId']
    const isOwn = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
    if (logId === undefined || !isOwn) return
    event.preventDefault()
    props.onOpen(logId)
  }
  return (
    <TableBox label="Table of requests" onClick={openRow}>
      <table className="table cards requests" aria-rowcount={rowCount + 1}>
        <thead>
          <tr aria-rowindex={1}>
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
        {chunks.map(({ id, start, items }) => (
          <Chunk
            key={id}
            requests={items}
            start={start}
            isNearAtFirst={isMounted || start < 100}
            path={path}
            getTitle={getTitle}
            open={items.some((item) => item.id === props.open) ? props.open : undefined}
          />
        ))}
      </table>
    </TableBox>
  )
}

interface RowContext {
  /** The path of the log. */
  readonly path: string
  readonly getTitle: (network: string) => string
}

/** The height of a row on a wide screen, in pixels, for rows that were not rendered yet. */
const rowHeight = 41

function Chunk(
  props: RowContext & {
    readonly requests: readonly RequestEntryView[]
    readonly start: number
    readonly isNearAtFirst: boolean
    readonly open: string | undefined
  },
) {
  const { requests, start, path, getTitle } = props
  const { ref, isNear, height } = useNearViewport({ isNearAtFirst: props.isNearAtFirst })
  return (
    <tbody ref={ref}>
      {isNear ? (
        requests.map((request, at) => (
          // The first row of the table is its head.
          <Row
            key={request.id}
            request={request}
            rowIndex={start + at + 2}
            path={path}
            getTitle={getTitle}
            isOpen={request.id === props.open}
          />
        ))
      ) : (
        <tr className="filler" aria-hidden="true">
          <td colSpan={7} style={{ height: height ?? requests.length * rowHeight }} />
        </tr>
      )}
    </tbody>
  )
}

const Row = memo(function Row(
  props: RowContext & {
    readonly request: RequestEntryView
    readonly rowIndex: number
    readonly isOpen: boolean
  },
) {
  const { request, rowIndex, path, getTitle, isOpen } = props
  const outcome = outcomeText(request)
  return (
    <tr aria-rowindex={rowIndex}>
      <td className="when">
        <time dateTime={request.at}>{shortMomentText(request.at)}</time>
      </td>
      <th scope="row" className="mono">
        <a
          href={`${path}?request=${request.id}`}
          data-log-id={request.id}
          title={outcome}
          aria-current={isOpen || undefined}
        >
          {methodText(request)}
        </a>
      </th>
      <td data-label="Outcome">
        <StatusBadge status={request.status} kind={outcomeKind(request.outcome)} /> {outcome}
      </td>
      <td data-label="Network" title={getTitle(request.network)}>
        {getTitle(request.network)}
      </td>
      <td data-label="Latency" className="number">
        {msText(request.durationMs)}
      </td>
      <td data-label="Key" className="when mono">
        {request.keyEnding === null ? 'JWT' : `…${request.keyEnding}`}
      </td>
      <td data-label="From">{request.origin?.replace(/^https?:\/\//, '') ?? request.ipBlock ?? '–'}</td>
    </tr>
  )
})
