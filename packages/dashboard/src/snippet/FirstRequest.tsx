import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { metricsQuery } from '../control/queries.ts'
import type { KeySubject } from '../control/queries.ts'
import { countText } from '../parts/times.ts'

/** Waits for the first request of a new key, and announces it. */
export function FirstRequest({ subject }: { readonly subject: KeySubject }) {
  const ever = useQuery({ ...metricsQuery(subject, 'quarter'), staleTime: 60_000 })
  const isNew = ever.data?.total === 0
  const now = useQuery({
    ...metricsQuery(subject, 'hour'),
    enabled: isNew,
    refetchInterval: ({ state }) => (state.data && state.data.total > 0 ? false : 1_500),
  })
  if (ever.data === undefined) return null
  const total = isNew ? (now.data?.total ?? 0) : ever.data.total
  const link =
    'appId' in subject ? (
      <Link to="/apps/$appId/metrics" params={{ appId: subject.appId }}>
        See the metrics
      </Link>
    ) : (
      <Link to="/keys/$keyId/metrics" params={{ keyId: subject.keyId }}>
        See the metrics
      </Link>
    )
  return (
    <div className={total > 0 ? 'note good' : 'note'} role="status">
      <div className="row">
        <span className={total > 0 ? 'dot' : 'dot waiting'} aria-hidden="true" />
        {total === 0
          ? 'Waiting for your first request…'
          : isNew
            ? 'Your first request has arrived.'
            : `${countText(total)} ${total === 1 ? 'request' : 'requests'} in the last 90 days.`}
      </div>
      {total > 0 && link}
    </div>
  )
}
