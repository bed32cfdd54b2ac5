import type { MetricsCsvQuery, MetricsView } from '../contract/controlApi.d.ts'
import { toCsv } from './csv.ts'
import type { CsvTable } from './csv.ts'

const tables: Readonly<Record<NonNullable<MetricsCsvQuery['of']>, (metrics: MetricsView) => CsvTable>> = {
  series: ({ series }) => [
    ['at', 'total', 'succeeded', 'reverted', 'p50Ms', 'p95Ms', 'connections', 'notifications'],
    ...series.map((one) => [
      one.at,
      one.total,
      one.succeeded,
      one.reverted,
      one.p50,
      one.p95,
      one.connections,
      one.notifications,
    ]),
  ],
  methods: ({ byMethod }) => [
    ['method', 'total', 'succeeded', 'reverted', 'p50Ms', 'p95Ms'],
    ...byMethod.map((one) => [one.method, one.total, one.succeeded, one.reverted, one.p50, one.p95]),
  ],
  outcomes: ({ byOutcome }) => [['outcome', 'total'], ...byOutcome.map(({ outcome, total }) => [outcome, total])],
  networks: ({ byNetwork }) => [
    ['network', 'total', 'succeeded', 'reverted'],
    ...byNetwork.map(({ network, total, succeeded, reverted }) => [network, total, succeeded, reverted]),
  ],
}

/**
 * Formats metrics as CSV with a header row.
 * @param of - The kind of rows.
 */
export const toMetricsCsv = (metrics: MetricsView, of: NonNullable<MetricsCsvQuery['of']>): string =>
  toCsv(tables[of](metrics))
