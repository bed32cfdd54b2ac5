import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ControlApi, MetricsQuery, MetricsView } from '@keyrail/gateway'
import { toPath } from '../control/callApi.ts'
import { metricsQuery } from '../control/queries.ts'
import type { Subject } from '../control/queries.ts'
import { Button } from '../parts/Button.tsx'
import { Card } from '../parts/Card.tsx'
import { Empty } from '../parts/Empty.tsx'
import { FiguresSkeleton, Loaded } from '../parts/Loaded.tsx'
import { useReachable } from '../control/reachable.ts'
import { countText, momentText, msExactText, msText, rateText, shortText, utcDayText } from '../parts/times.ts'
import { SetupLink } from '../parts/SetupLink.tsx'
import { Chart } from './Chart.tsx'
import { toChargeText } from './chargeText.ts'
import type { Past } from './comparePast.ts'
import { CsvLink } from './CsvLink.tsx'
import { Filters } from './Filters.tsx'
import { LinkedCharts } from './LinkedCharts.tsx'
import { LiveBadge, useIsLate } from './LiveBadge.tsx'
import { MetricsTables } from './MetricsTables.tsx'
import { getRangeWords, RangePicker } from './RangePicker.tsx'
import { RequestsChart } from './RequestsChart.tsx'
import { useMetricsSearch } from './useMetricsSearch.ts'
import { usePast } from './usePast.ts'

/** The number of requests, their outcomes and latencies, updated while the page is open. */
export function MetricsPanel({ subject }: { readonly subject: Subject }) {
  const { search, change } = useMetricsSearch()
  const { compare = false, ...filters } = search
  const isCustom = search.from !== undefined
  const range = search.range ?? 'hour'
  const refetchInterval = range === 'hour' ? 2_000 : 15_000
  const metricsSearch = isCustom ? filters : { ...filters, range }
  const query = useQuery({
    ...metricsQuery(subject, metricsSearch),
    refetchInterval: isCustom ? false : refetchInterval,
    placeholderData: keepPreviousData,
  })
  const past = usePast(subject, { current: query.data, query: metricsSearch, isOn: compare })
  const isLate = useIsLate(query.dataUpdatedAt, refetchInterval + 5_000)
  const isReachable = useReachable()
  const isLive = isReachable && query.isSuccess && !query.isPlaceholderData && !isLate
  // The last step is part of the range.
  const zoom = (from: number, to: number): void => {
    const stepMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }[query.data?.step ?? 'minute']
    change({ range: undefined, from: new Date(from).toISOString(), to: new Date(to + stepMs).toISOString() })
  }
  const isCurrent = isCustom ? !query.isPlaceholderData : isLive
  return (
    <div className="stack wide">
      <div className="row spread">
        <div className="row">
          <RangePicker />
          <label className="choice">
            <input
              type="checkbox"
              name="compare"
              checked={compare}
              onChange={({ target }) => change({ compare: target.checked ? true : undefined })}
            />
            Compare with the previous period
          </label>
        </div>
        {query.isPlaceholderData ? (
          <span className="badge" role="status">
            Loading the {getRangeWords(isCustom ? 'custom' : range)}…
          </span>
        ) : (
          query.data && !isCustom && <LiveBadge isLive={isLive} updatedAt={query.dataUpdatedAt} />
        )}
      </div>
      <Filters />
      <Loaded query={query} shape={<FiguresSkeleton />}>
        {(metrics) => (
          <div className={isCurrent ? 'stack wide' : 'stack wide old'} aria-busy={query.isPlaceholderData}>
            <Figures metrics={metrics} past={past} words={getRangeWords(metrics.range)} />
            <Notes texts={[compare ? past?.note : undefined, toChargeText(metrics)]} />
            {metrics.total + metrics.connections + metrics.notifications === 0 ? (
              <NoRequests
                words={getRangeWords(metrics.range)}
                subject={subject}
                clear={
                  (search.method ?? search.outcome ?? search.network) === undefined
                    ? undefined
                    : () => change({ method: undefined, outcome: undefined, network: undefined })
                }
              />
            ) : (
              <Parts
                metrics={metrics}
                words={getRangeWords(metrics.range)}
                subject={subject}
                query={metricsSearch}
                past={past}
                zoom={zoom}
              />
            )}
          </div>
        )}
      </Loaded>
    </div>
  )
}

function NoRequests(props: {
  readonly words: string
  readonly subject: Subject
  /** Removes the filters. */
  readonly clear: (() => void) | undefined
}) {
  const { subject, clear } = props
  if (clear) {
    return (
      <Empty
        title={`No request in the ${props.words} matches the filters`}
        action={<Button onClick={clear}>Clear the filters</Button>}
      />
    )
  }
  return (
    <Empty
      title={`No requests in the ${props.words}`}
      action={
        subject === 'account' ? (
          <Link to="/apps">To your apps</Link>
        ) : (
          <SetupLink subject={subject}>Make a call</SetupLink>
        )
      }
    >
      <p>They appear here a few seconds after they arrive.</p>
    </Empty>
  )
}

/** Sentences about the figures. */
function Notes({ texts }: { readonly texts: readonly (string | undefined)[] }) {
  const shown = texts.filter((text) => text !== undefined)
  if (shown.length === 0) return null
  return (
    <div className="stack tight">
      {shown.map((text) => (
        <p className="small soft" key={text}>
          {text}
        </p>
      ))}
    </div>
  )
}

function Figures({
  metrics,
  past,
  words,
}: {
  readonly metrics: MetricsView
  readonly past: Past | undefined
  readonly words: string
}) {
  const { total, stored, successRate, latencyMs } = metrics
  const storedNote = stored === 0 ? '' : `, ${rateText(stored / total)} from the chain store`
  const figures = [
    {
      title: 'Total requests',
      value: countText(total),
      note: `in the ${words}${storedNote}`,
      change: past?.changes?.total,
    },
    {
      title: 'Success rate',
      value: rateText(successRate),
      note: 'without errors; reverts are none',
      change: past?.changes?.successRate,
    },
    { title: 'Median latency', value: msText(latencyMs.p50), note: 'half are faster', change: past?.changes?.p50 },
    {
      title: '95th percentile',
      value: msText(latencyMs.p95),
      note: `90th: ${msText(latencyMs.p90)}, 99th: ${msText(latencyMs.p99)}`,
      change: past?.changes?.p95,
    },
  ]
  return (
    <dl className="figures">
      {figures.map(({ title, value, note, change }) => (
        <div className="card figure" key={title}>
          <dt>{title}</dt>
          <dd>{value}</dd>
          <dd className="small">{note}</dd>
          {change !== undefined && <dd className="small">{change}</dd>}
        </div>
      ))}
    </dl>
  )
}

function Parts(props: {
  readonly metrics: MetricsView
  readonly words: string
  readonly subject: Subject
  readonly query: MetricsQuery
  readonly past: Past | undefined
  readonly zoom: (from: number, to: number) => void
}) {
  const { metrics, words, subject, past, zoom } = props
  const { series, step, total } = metrics
  // A step of a day is a day of UTC; shorter ones are shown in the reader's own zone.
  const timeZone = step === 'day' ? 'UTC' : undefined
  const busiest = series.reduce(
    (most, one) => (one.total > most.total ? one : most),
    series[0] ?? { at: metrics.from, total: 0 },
  )
  const slowest = Math.max(0, ...series.map(({ p95 }) => p95 ?? 0))
  const formatTitle = step === 'day' ? (time: string) => `${utcDayText(time)} (UTC)` : momentText
  const csvLink = (of: 'methods' | 'outcomes' | 'networks') => (
    <CsvLink href={csvPath(subject, { ...props.query, of })} of={of} />
  )
  // One file has all columns over time.
  const seriesLink = (what: string) => (
    <CsvLink href={csvPath(subject, { ...props.query, of: 'series' })} of={`${what} over time`} />
  )
  return (
    <LinkedCharts>
      <div className="columns aligned">
        <Card title="Requests" aside={seriesLink('requests')}>
          <RequestsChart
            series={series}
            toTitle={formatTitle}
            caption="Requests"
            timeZone={timeZone}
            onZoom={zoom}
            past={past?.series?.map((one) => one?.total ?? null)}
            summary={`Requests by ${step} in the ${words}: ${countText(total)} in all, most at ${formatTitle(busiest.at)}, ${countText(busiest.total)}.`}
          />
        </Card>
        <Card title="Latency" aside={seriesLink('latency')}>
          <Chart
            caption="Latency"
            rows={[
              { title: 'Median', look: 'line-one' },
              { title: '95th percentile', look: 'line-two' },
              ...(past?.series
                ? ([
                    { title: 'Median before', look: 'line-past-one' },
                    { title: '95th percentile before', look: 'line-past-two' },
                  ] as const)
                : []),
            ]}
            moments={series.map((one, index) => ({
              at: Date.parse(one.at),
              title: formatTitle(one.at),
              values: [
                one.p50,
                one.p95,
                ...(past?.series ? [past.series[index]?.p50 ?? null, past.series[index]?.p95 ?? null] : []),
              ],
            }))}
            text={msText}
            exact={msExactText}
            timeZone={timeZone}
            onZoom={zoom}
            summary={`Latency by ${step} in the ${words}: a median of ${msText(metrics.latencyMs.p50)}; the slowest ${step} had a 95th percentile of ${msText(slowest)}.`}
          />
        </Card>
      </div>
      {metrics.connections + metrics.notifications > 0 && (
        <Card
          title="Subscriptions"
          aside={seriesLink('notifications')}
          lead={`${counted(metrics.connections, 'WebSocket')} opened and ${counted(metrics.notifications, 'notification')} sent in the ${words}. Notifications do not count as requests.`}
        >
          <Chart
            caption="Notifications"
            rows={[{ title: 'Notifications', look: 'area-good' }]}
            moments={series.map((one) => ({
              at: Date.parse(one.at),
              title: formatTitle(one.at),
              values: [one.notifications],
            }))}
            text={shortText}
            exact={countText}
            timeZone={timeZone}
            onZoom={zoom}
            summary={`Notifications by ${step} in the ${words}: ${countText(metrics.notifications)} in all.`}
          />
        </Card>
      )}
      <MetricsTables metrics={metrics} csvLink={csvLink} />
    </LinkedCharts>
  )
}

const counted = (count: number, what: string): string => `${countText(count)} ${what}${count === 1 ? '' : 's'}`

function csvPath(subject: Subject, query: ControlApi['GET /api/metrics.csv']['query']): string {
  if (subject === 'account') return toPath('GET /api/metrics.csv', { query })
  return 'appId' in subject
    ? toPath('GET /api/apps/{appId}/metrics.csv', { params: subject, query })
    : toPath('GET /api/keys/{keyId}/metrics.csv', { params: subject, query })
}
