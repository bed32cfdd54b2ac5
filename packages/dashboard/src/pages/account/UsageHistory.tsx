import { useQuery } from '@tanstack/react-query'
import type { MetricsView } from '@keyrail/gateway'
import { Chart } from '../../charts/Chart.tsx'
import { metricsQuery } from '../../control/queries.ts'
import { Card } from '../../parts/Card.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { countText, shortText, utcDayText } from '../../parts/times.ts'

/** The requests of each of the last 30 days. */
export function UsageHistory() {
  const query = useQuery({ ...metricsQuery('account', 'month'), refetchInterval: 60_000, staleTime: 30_000 })
  return (
    <Card title="Last 30 days" lead="Requests by day (UTC), of all apps and API keys.">
      <Loaded query={query}>{({ series, total }) => <DaysChart series={series} total={total} />}</Loaded>
    </Card>
  )
}

function DaysChart({ series, total }: Pick<MetricsView, 'series' | 'total'>) {
  return (
    <Chart
      kind="bars"
      caption="Requests by day"
      rows={[
        { title: 'Succeeded', look: 'area-good' },
        { title: 'Failed or rejected', look: 'area-bad' },
      ]}
      moments={series.map((day) => ({
        at: Date.parse(day.at),
        title: utcDayText(day.at),
        values: [day.succeeded, day.total - day.succeeded],
      }))}
      text={shortText}
      exact={countText}
      timeZone="UTC"
      summary={`Requests by day in the last 30 days: ${countText(total)} in all.`}
    />
  )
}
