import { useQuery } from '@tanstack/react-query'
import { CsvLink } from '../charts/CsvLink.tsx'
import { RequestsChart } from '../charts/RequestsChart.tsx'
import type { metricsQuery, userMetricsQuery } from '../control/queries.ts'
import { Card } from './Card.tsx'
import { Loaded } from './Loaded.tsx'
import { countText, utcDayText } from './times.ts'

/** The requests of each of the last 30 days. */
export function UsageHistory(props: {
  readonly query: ReturnType<typeof metricsQuery> | ReturnType<typeof userMetricsQuery>
  /** The path of the CSV file. @default there is none */
  readonly csv?: string
}) {
  const query = useQuery({
    ...(props.query as ReturnType<typeof metricsQuery>),
    refetchInterval: 60_000,
    staleTime: 30_000,
  })
  return (
    <Card
      title="Last 30 days"
      lead="Requests by day (UTC), of all apps and API keys."
      aside={props.csv !== undefined && <CsvLink href={props.csv} of="requests by day" />}
    >
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
