import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { MetricsRange, MetricsView } from '@keyrail/gateway'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { toPath } from '../control/callApi.ts'
import { metricsQuery } from '../control/queries.ts'
import type { Subject } from '../control/queries.ts'
import { Card } from '../parts/Card.tsx'
import { Empty } from '../parts/Empty.tsx'
import { Loaded, Skeleton } from '../parts/Loaded.tsx'
import { NetworkName } from '../networks/NetworkName.tsx'
import { useNetworks } from '../networks/useNetworks.ts'
import { Segments } from '../parts/Segments.tsx'
import { useReachable } from '../control/reachable.ts'
import { countText, momentText, msExactText, msText, rateText, shortText, utcDayText } from '../parts/times.ts'
import { BarCell } from './BarCell.tsx'
import { Chart } from './Chart.tsx'
import { CsvLink } from './CsvLink.tsx'
import { LiveBadge, useIsLate } from './LiveBadge.tsx'
import { outcomeTitle } from './outcomeTitle.ts'

const ranges: readonly { readonly value: MetricsRange; readonly title: string; readonly words: string }[] = [
  { value: 'hour', title: 'Hour', words: 'last hour' },
  { value: 'day', title: 'Day', words: 'last 24 hours' },
  { value: 'week', title: 'Week', words: 'last 7 days' },
  { value: 'month', title: 'Month', words: 'last 30 days' },
  { value: 'quarter', title: '90 days', words: 'last 90 days' },
]

const wordsOf = (range: MetricsRange): string => ranges.find(({ value }) => value === range)?.words ?? ''

/** How much was asked and how it went, brought up to date while one looks. */
export function MetricsPanel({ subject, csv = true }: { readonly subject: Subject; readonly csv?: boolean }) {
  const { range = 'hour' } = useSearch({ strict: false })
  const navigate = useNavigate()
  const setRange = (next: MetricsRange): void =>
    void navigate({ to: '.', search: { range: next }, replace: true, resetScroll: false })
  const refetchInterval = range === 'hour' ? 2_000 : 15_000
  const query = useQuery({ ...metricsQuery(subject, range), refetchInterval, placeholderData: keepPreviousData })
  const isLate = useIsLate(query.dataUpdatedAt, refetchInterval + 5_000)
  const isReachable = useReachable()
  const isLive = isReachable && query.isSuccess && !query.isPlaceholderData && !isLate
  return (
    <div className="stack wide">
      <div className="row spread">
        <Segments legend="Time" name="range" value={range} onChange={setRange} options={ranges} />
        {query.isPlaceholderData ? (
          <span className="badge" role="status">
            Loading the {wordsOf(range)}…
          </span>
        ) : (
          query.data && <LiveBadge isLive={isLive} updatedAt={query.dataUpdatedAt} />
        )}
      </div>
      <Loaded
        query={query}
        shape={
          <div className="stack">
            <Skeleton lines={1} />
            <Skeleton lines={6} />
          </div>
        }
      >
        {(metrics) => (
          <div className={isLive ? 'stack wide' : 'stack wide old'} aria-busy={query.isPlaceholderData}>
            <Figures metrics={metrics} words={wordsOf(metrics.range)} />
            {metrics.total + metrics.connections + metrics.notifications === 0 ? (
              <Empty title={`No requests in the ${wordsOf(metrics.range)}`}>
                <p>They show here a few seconds after they come.</p>
              </Empty>
            ) : (
              <Parts metrics={metrics} words={wordsOf(metrics.range)} subject={subject} csv={csv} />
            )}
          </div>
        )}
      </Loaded>
    </div>
  )
}

function Figures({ metrics, words }: { readonly metrics: MetricsView; readonly words: string }) {
  const { total, successRate, latencyMs } = metrics
  const figures = [
    { title: 'Total requests', value: countText(total), note: `in the ${words}` },
    { title: 'Success rate', value: rateText(successRate), note: 'answered without an error' },
    { title: 'Median latency', value: msText(latencyMs.p50), note: 'half are faster' },
    {
      title: '95th percentile',
      value: msText(latencyMs.p95),
      note: `90th: ${msText(latencyMs.p90)}, 99th: ${msText(latencyMs.p99)}`,
    },
  ]
  return (
    <dl className="figures">
      {figures.map(({ title, value, note }) => (
        <div className="card figure" key={title}>
          <dt>{title}</dt>
          <dd>{value}</dd>
          <dd className="small">{note}</dd>
        </div>
      ))}
    </dl>
  )
}

function Parts(props: {
  readonly metrics: MetricsView
  readonly words: string
  readonly subject: Subject
  readonly csv: boolean
}) {
  const { metrics, words, subject } = props
  const { range, series, byMethod, byOutcome, byNetwork, step, total } = metrics
  const { getTitle } = useNetworks()
  // A step of a day is a day of UTC; shorter ones are shown in the reader's own zone.
  const timeZone = step === 'day' ? 'UTC' : undefined
  const busiest = series.reduce(
    (most, one) => (one.total > most.total ? one : most),
    series[0] ?? { at: metrics.from, total: 0 },
  )
  const slowest = Math.max(0, ...series.map(({ p95 }) => p95 ?? 0))
  const titleOf = step === 'day' ? (time: string) => `${utcDayText(time)} (UTC)` : momentText
  const csvLink = (of: 'series' | 'methods' | 'outcomes' | 'networks') =>
    props.csv && <CsvLink href={csvPath(subject, range, of)} of={of === 'series' ? 'requests over time' : of} />
  return (
    <>
      <Card title="Requests" aside={csvLink('series')}>
        <Chart
          kind="bars"
          caption="Requests"
          rows={[
            { title: 'Answered', look: 'area-good' },
            { title: 'Failed or rejected', look: 'area-bad' },
          ]}
          moments={series.map((one) => ({
            at: Date.parse(one.at),
            title: titleOf(one.at),
            values: [one.succeeded, one.total - one.succeeded],
          }))}
          text={shortText}
          exact={countText}
          timeZone={timeZone}
          summary={`Requests by ${step} in the ${words}: ${countText(total)} in all, most at ${titleOf(busiest.at)}, ${countText(busiest.total)}.`}
        />
      </Card>
      <Card title="Latency">
        <Chart
          kind="lines"
          caption="Latency"
          rows={[
            { title: 'Median', look: 'line-one' },
            { title: '95th percentile', look: 'line-two' },
          ]}
          moments={series.map((one) => ({
            at: Date.parse(one.at),
            title: titleOf(one.at),
            values: [one.p50, one.p95],
          }))}
          text={msText}
          exact={msExactText}
          timeZone={timeZone}
          summary={`Latency by ${step} in the ${words}: a median of ${msText(metrics.latencyMs.p50)}; the slowest ${step} had a 95th percentile of ${msText(slowest)}.`}
        />
      </Card>
      {metrics.connections + metrics.notifications > 0 && (
        <Card
          title="Subscriptions"
          lead={`${counted(metrics.connections, 'WebSocket')} opened and ${counted(metrics.notifications, 'notification')} sent in the ${words}. Notifications do not count as requests.`}
        >
          <Chart
            kind="bars"
            caption="Notifications"
            rows={[{ title: 'Notifications', look: 'area-good' }]}
            moments={series.map((one) => ({
              at: Date.parse(one.at),
              title: titleOf(one.at),
              values: [one.notifications],
            }))}
            text={shortText}
            exact={countText}
            timeZone={timeZone}
            summary={`Notifications by ${step} in the ${words}: ${countText(metrics.notifications)} in all.`}
          />
        </Card>
      )}
      <Card title="By method" aside={csvLink('methods')}>
        <div className="table-box" tabIndex={0} role="region" aria-label="Table by method">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Method</th>
                <td className="filler" />
                <th scope="col" className="number">
                  Requests
                </th>
                <th scope="col" className="number">
                  Success
                </th>
                <th scope="col" className="number">
                  Median
                </th>
                <th scope="col" className="number">
                  95th
                </th>
              </tr>
            </thead>
            <tbody>
              {byMethod.map((one) => (
                <tr key={one.method}>
                  <th scope="row" className="mono">
                    {one.method}
                  </th>
                  <BarCell part={one.total / total} />
                  <td className="number">{countText(one.total)}</td>
                  <td className="number">{rateText(one.total === 0 ? null : one.succeeded / one.total)}</td>
                  <td className="number">{msText(one.p50)}</td>
                  <td className="number">{msText(one.p95)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Card>
      <div className="grid even">
        <Card title="By outcome" aside={csvLink('outcomes')}>
          <table className="table">
            <thead className="hidden">
              <tr>
                <th scope="col">Outcome</th>
                <td className="filler" />
                <th scope="col">Requests</th>
              </tr>
            </thead>
            <tbody>
              {byOutcome.map((one) => (
                <tr key={one.outcome}>
                  <th scope="row">{outcomeTitle(one.outcome)}</th>
                  <BarCell part={one.total / total} bad={one.outcome !== 'succeeded'} />
                  <td className="number">{countText(one.total)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Card>
        <Card title="By network" aside={csvLink('networks')}>
          <table className="table">
            <thead className="hidden">
              <tr>
                <th scope="col">Network</th>
                <td className="filler" />
                <th scope="col">Requests</th>
              </tr>
            </thead>
            <tbody>
              {byNetwork.map((one) => (
                <tr key={one.network}>
                  <th scope="row">
                    <NetworkName title={getTitle(one.network)} network={one.network} />
                  </th>
                  <BarCell part={one.total / total} />
                  <td className="number">{countText(one.total)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Card>
      </div>
    </>
  )
}

const counted = (count: number, what: string): string => `${countText(count)} ${what}${count === 1 ? '' : 's'}`

function csvPath(subject: Subject, range: MetricsRange, of: 'series' | 'methods' | 'outcomes' | 'networks'): string {
  const query = { range, of }
  if (subject === 'account') return toPath('GET /api/metrics.csv', { query })
  return 'appId' in subject
    ? toPath('GET /api/apps/{appId}/metrics.csv', { params: subject, query })
    : toPath('GET /api/keys/{keyId}/metrics.csv', { params: subject, query })
}
