import type { MetricsCsvQuery, MetricsView } from '../contract/metrics.ts'
import { toCsv } from './csv.ts'
import type { CsvTable } from './csv.ts'

const tables: Readonly<Record<NonNullable<MetricsCsvQuery['of']>, (metrics: MetricsView) => CsvTable>> = {
  series: ({ series }) => [
    ['at', 'total', 'succeeded', 'p50Ms', 'p95Ms', 'connections', 'notifications'],
    ...series.map((one) => [one.at, one.total, one.succeeded, one.p50, one.p95, one.connections, one.notifications]),
  ],
  methods: ({ byMethod }) => [
    ['method', 'total', 'succeeded', 'p50Ms', 'p95Ms'],
    ...byMethod.map(({ method, total, succeeded, p50, p95 }) => [method, total, succeeded, p50, p95]),
  ],
  outcomes: ({ byOutcome }) => [['outcome', 'total'], ...byOutcome.map(({ outcome, total }) => [outcome, total])],
  networks: ({ byNetwork }) => [
    ['network', 'total', 'succeeded'],
    ...byNetwork.map(({ network, total, succeeded }) => [network, total, succeeded]),
  ],
}

/**
 * Formats metrics as CSV with a header row.
 * @param of - The kind of rows.
 */
export const toMetricsCsv = (metrics: MetricsView, of: NonNullable<MetricsCsvQuery['of']>): string =>
  toCsv(tables[of](metrics))
