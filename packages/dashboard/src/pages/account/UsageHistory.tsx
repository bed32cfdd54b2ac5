import { useQuery } from '@tanstack/react-query'
import { RequestsChart } from '../../charts/RequestsChart.tsx'
import { metricsQuery } from '../../control/queries.ts'
import { Card } from '../../parts/Card.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { countText, utcDayText } from '../../parts/times.ts'

/** The requests of each of the last 30 days. */
export function UsageHistory() {
  const query = useQuery({ ...metricsQuery('account', 'month'), refetchInterval: 60_000, staleTime: 30_000 })
  return (
    <Card title="Last 30 days" lead="Requests by day (UTC), of all apps and API keys.">
      <Loaded query={query}>
        {({ series, total }) => (
          <RequestsChart
            series={series}
            toTitle={utcDayText}
            caption="Requests by day"
            timeZone="UTC"
            summary={`Requests by day in the last 30 days: ${countText(total)} in all.`}
          />
        )}
      </Loaded>
    </Card>
  )
}
