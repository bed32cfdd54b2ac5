import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { RequestEntryView } from '@keyrail/gateway'
import { outcomeKind } from '../charts/outcomeKind.ts'
import { deploymentQuery, loadRequests, metricsQuery } from '../control/queries.ts'
import type { KeySubject } from '../control/queries.ts'
import { Card } from '../parts/Card.tsx'
import { countText, momentText, msText } from '../parts/times.ts'
import { LogLink } from '../requests/LogLink.tsx'
import { methodText } from '../requests/methodText.ts'
import { outcomeText } from '../requests/outcomeText.ts'
import { StatusBadge } from '../requests/StatusBadge.tsx'

/** How often the service is asked whether the first request has arrived, in milliseconds. */
const intervalMs = 1_500

/** Waits for the first request of a new key, and shows it. */
export function FirstRequest({ subject }: { readonly subject: KeySubject }) {
  const deployment = useQuery(deploymentQuery)
  const ever = useQuery({ ...metricsQuery(subject, 'quarter'), staleTime: 60_000 })
  const isNew = ever.data?.total === 0
  const now = useQuery({
    ...metricsQuery(subject, 'hour'),
    enabled: isNew,
    refetchInterval: ({ state }) => (state.data && state.data.total > 0 ? false : intervalMs),
  })
  const total = isNew ? (now.data?.total ?? 0) : (ever.data?.total ?? 0)
  // The log has the first requests of each minute. It is written after the metrics at the latest half a second later.
  const first = useQuery({
    queryKey: ['requests', 'first', subject],
    queryFn: async ({ signal }) => (await loadRequests(subject, {}, { signal })).items.at(-1) ?? null,
    enabled: isNew && total > 0 && deployment.data?.requestLog === true,
    refetchInterval: ({ state }) => (state.data ? false : intervalMs),
    staleTime: Infinity,
  })
  if (ever.data === undefined) return null
  const metrics =
    'appId' in subject ? (
      <Link to="/apps/$appId/metrics" params={subject}>
        See the metrics
      </Link>
    ) : (
      <Link to="/keys/$keyId/metrics" params={subject}>
        See the metrics
      </Link>
    )
  if (isNew && total > 0) {
    return (
      <Card title="First request" aside={metrics}>
        <p role="status" className="row">
          <span className="dot" aria-hidden="true" />
          Your first request has arrived.
        </p>
        {first.data && <RequestFacts subject={subject} request={first.data} />}
      </Card>
    )
  }
  return (
    <div className={total > 0 ? 'note good' : 'note'} role="status">
      <div className="row">
        <span className={total > 0 ? 'dot' : 'dot waiting'} aria-hidden="true" />
        {total === 0
          ? 'Waiting for your first request…'
          : `${countText(total)} ${total === 1 ? 'request' : 'requests'} in the last 90 days.`}
      </div>
      {total > 0 && metrics}
    </div>
  )
}

function RequestFacts({ subject, request }: { readonly subject: KeySubject; readonly request: RequestEntryView }) {
  const { id, at, outcome, status, durationMs } = request
  return (
    <>
      <dl className="facts">
        <div>
          <dt>Method</dt>
          <dd>
            <code>{methodText(request)}</code>
          </dd>
        </div>
        <div>
          <dt>Status</dt>
          <dd>
            <StatusBadge status={status} kind={outcomeKind(outcome)} /> {outcomeText(request)}
          </dd>
        </div>
        <div>
          <dt>Time</dt>
          <dd>
            <time dateTime={at}>{momentText(at)}</time>
          </dd>
        </div>
        <div>
          <dt>Latency</dt>
          <dd>{msText(durationMs)}</dd>
        </div>
      </dl>
      <p>
        <LogLink subject={subject} search={{ request: id }}>
          See the request
        </LogLink>
      </p>
    </>
  )
}
