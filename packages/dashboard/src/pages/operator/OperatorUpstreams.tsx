import { useQuery } from '@tanstack/react-query'
import type { ControlApi, UpstreamView } from '@keyrail/gateway'
import { CsvLink } from '../../charts/CsvLink.tsx'
import { toPath } from '../../control/callApi.ts'
import { upstreamDaysQuery, upstreamsQuery } from '../../control/queries.ts'
import { Card } from '../../parts/Card.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { useNetworks } from '../../networks/useNetworks.ts'
import { PageHead } from '../../parts/PageHead.tsx'
import { countText, msText, shortText } from '../../parts/times.ts'
import { TableHead } from '../../parts/TableHead.tsx'

/** The nodes of each network, and their health. */
export function OperatorUpstreams() {
  const { getTitle } = useNetworks()
  const query = useQuery({ ...upstreamsQuery, refetchInterval: 5_000 })
  return (
    <>
      <PageHead
        title="Upstreams"
        windowTitle="Operator: upstreams"
        lead="The nodes behind each network, as the instance that served this page sees them."
      />
      <Loaded query={query}>
        {({ items }) =>
          [...new Set(items.map(({ network }) => network))].map((network) => (
            <Card title={getTitle(network)} key={network}>
              <Upstreams items={items.filter((one) => one.network === network)} />
            </Card>
          ))
        }
      </Loaded>
      <UpstreamsByDay />
    </>
  )
}

/** What the nodes of each network were sent by day, and what was saved. */
function UpstreamsByDay() {
  const { getTitle } = useNetworks()
  const query = useQuery({ ...upstreamDaysQuery, refetchInterval: 60_000 })
  return (
    <Card
      title="By day"
      lead="Calls and units that all instances sent in the last 31 days (UTC)."
      aside={<CsvLink href={toPath('GET /api/admin/upstreams/days.csv', { query: {} })} of="calls by day" />}
    >
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="soft">No calls yet.</p>
          ) : (
            <table className="table cards">
              <TableHead
                titles={[
                  'Day',
                  'Network',
                  'Sent',
                  { title: 'Saved by the cache', isNumber: true },
                  { title: 'Saved in flight', isNumber: true },
                ]}
              />
              <tbody>
                {items.map((one) => (
                  <tr key={`${one.day} ${one.network}`}>
                    <th scope="row">{one.day}</th>
                    <td data-label="Network">{getTitle(one.network)}</td>
                    <td data-label="Sent">{sentText(one)}</td>
                    <td data-label="Saved by the cache" className="number">
                      {countText(one.savedByCache)}
                    </td>
                    <td data-label="Saved in flight" className="number">
                      {countText(one.savedInFlight)}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Loaded>
    </Card>
  )
}

const sentText = ({ upstreams }: ControlApi['GET /api/admin/upstreams/days']['response']['items'][number]): string =>
  upstreams
    .filter(({ calls }) => calls > 0)
    .map(({ name, calls, units }) => `${name}: ${countText(calls)} calls, ${countText(units)} units`)
    .join('; ') || '–'

function Upstreams({ items }: { readonly items: readonly UpstreamView[] }) {
  return (
    <table className="table cards upstreams">
      <TableHead
        titles={[
          'Upstream',
          'Status',
          { title: 'Head', isNumber: true },
          { title: 'In flight', isNumber: true },
          { title: 'Latency', isNumber: true },
          { title: 'Calls', isNumber: true },
          'Failures',
          'Budget left',
        ]}
      />
      <tbody>
        {items.map((upstream) => (
          <tr key={upstream.name}>
            <th scope="row">{upstream.name}</th>
            <td data-label="Status">
              <StatusBadge status={upstream.status} />
              {upstream.reason !== null && <div className="small soft break">{upstream.reason}</div>}
            </td>
            <td data-label="Head" className="number">
              {headText(upstream)}
            </td>
            <td data-label="In flight" className="number">
              {countText(upstream.inFlight)}
            </td>
            <td data-label="Latency" className="number">
              {msText(upstream.latencyMs)}
            </td>
            <td data-label="Calls" className="number">
              {shortText(Object.values(upstream.outcomes).reduce((sum, count) => sum + count, 0))}
            </td>
            <td data-label="Failures">{failuresText(upstream)}</td>
            <td data-label="Budget left">{budgetText(upstream)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const statuses: Readonly<Record<UpstreamView['status'], readonly [title: string, kind: 'good' | 'warn' | 'bad']>> = {
  healthy: ['Healthy', 'good'],
  unreachable: ['Unreachable', 'bad'],
  wrongChain: ['Wrong chain', 'bad'],
  failing: ['Failing', 'bad'],
  syncing: ['Syncing', 'warn'],
  lagging: ['Lagging', 'warn'],
  throttled: ['Throttled', 'warn'],
  overBudget: ['Over budget', 'warn'],
}

/** The status of a node. */
export function StatusBadge({ status }: Pick<UpstreamView, 'status'>) {
  const [title, kind] = statuses[status]
  return (
    <span className={`badge ${kind}`}>
      <span className="dot" aria-hidden="true" />
      {title}
    </span>
  )
}

/** The newest block of a node, and how far it is behind. */
export const headText = ({ head, lag }: UpstreamView): string => {
  if (head === null) return '–'
  return lag === null || lag === 0 ? countText(head) : `${countText(head)} (${countText(lag)} behind)`
}

/** Outcomes that are no failures of a node: a call that the service canceled, and a contract that reverted. */
const notFailures: ReadonlySet<string> = new Set(['result', 'aborted', 'revert'])

/** The most frequent kinds of failures. */
const failuresText = ({ outcomes }: UpstreamView): string => {
  const failures = Object.entries(outcomes)
    .filter(([kind]) => !notFailures.has(kind))
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, 3)
  return failures.map(([kind, count]) => `${shortText(count)} ${kind}`).join(', ') || '–'
}

const periods: Readonly<Record<string, string>> = {
  maxRequestsPerSecond: 'requests this second',
  maxRequestsPerDay: 'requests today',
  maxUnitsPerSecond: 'units this second',
  maxUnitsPerDay: 'units today',
}

const budgetText = ({ budgets }: UpstreamView): string =>
  budgets
    .map(({ name, limit, left }) => `${shortText(left)} of ${shortText(limit)} ${periods[name] ?? name}`)
    .join(', ') || '–'
