import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ActivityItem, ActivityView } from '@keyrail/gateway'
import { BarCell } from '../../charts/BarCell.tsx'
import { activityQuery } from '../../control/queries.ts'
import { Card } from '../../parts/Card.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { countText, errorRateText, rateText } from '../../parts/times.ts'

/** Most rows: rendering a thousand takes too long. */
const maxRows = 20

/** The apps and API keys with the most requests of the last 24 hours, and their share. */
export function UsageShare() {
  const query = useQuery({ ...activityQuery, refetchInterval: 60_000 })
  return (
    <Card title="By app and API key" lead="Requests of the last 24 hours, rejected ones included.">
      <Loaded query={query}>{(activity) => <ShareTable activity={activity} />}</Loaded>
    </Card>
  )
}

function ShareTable({ activity }: { readonly activity: ActivityView }) {
  const used = activity.items.filter(({ total }) => total > 0).toSorted((one, other) => other.total - one.total)
  const [shown, others] = [used.slice(0, maxRows), used.slice(maxRows)]
  const addUp = (items: readonly ActivityItem[], member: 'total' | 'failed'): number =>
    items.reduce((sum, item) => sum + item[member], 0)
  const rest = [
    { title: `${countText(others.length)} others`, total: addUp(others, 'total'), failed: addUp(others, 'failed') },
    {
      title: 'Deleted apps and revoked keys',
      total: activity.total - addUp(used, 'total'),
      failed: activity.failed - addUp(used, 'failed'),
    },
  ].filter(({ total }) => total > 0)
  if (activity.total === 0) return <p className="soft">No requests in the last 24 hours.</p>
  const rows = [...shown.map((item) => ({ title: <ItemLink item={item} />, key: item.id, ...item })), ...rest]
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Table by app and API key">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">App or API key</th>
            <td className="filler" />
            <th scope="col" className="number">
              Requests
            </th>
            <th scope="col" className="number">
              Share
            </th>
            <th scope="col" className="number">
              Errors
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={'key' in row ? row.key : row.title}>
              <th scope="row">{row.title}</th>
              <BarCell part={row.total / activity.total} />
              <td className="number">{countText(row.total)}</td>
              <td className="number">{rateText(row.total / activity.total)}</td>
              <td className="number">{errorRateText(row.failed, row.total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function ItemLink({ item: { kind, id, name } }: { readonly item: ActivityItem }) {
  return kind === 'app' ? (
    <Link to="/apps/$appId/metrics" params={{ appId: id }} search={{ range: 'day' }}>
      {name}
    </Link>
  ) : (
    <Link to="/keys/$keyId/metrics" params={{ keyId: id }} search={{ range: 'day' }}>
      {name}
    </Link>
  )
}
