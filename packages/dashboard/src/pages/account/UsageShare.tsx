import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ActivityItem, ActivityView } from '@keyrail/gateway'
import { BarTable } from '../../charts/BarTable.tsx'
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
    <Card title="By app and API key" lead="Requests in the last 24 hours, including rejected ones.">
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
  const rows = [
    ...shown.map((item) => ({ ...item, key: item.id, title: <ItemLink item={item} /> })),
    ...rest.map((one) => ({ ...one, key: one.title })),
  ]
  return (
    <BarTable
      label="Table by app and API key"
      heading="App or API key"
      columns={['Requests', 'Share', 'Errors']}
      rows={rows.map(({ key, title, total, failed }) => {
        const part = total / activity.total
        return { key, title, part, numbers: [countText(total), rateText(part), errorRateText(failed, total)] }
      })}
    />
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
