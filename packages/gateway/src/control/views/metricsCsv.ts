import type { MetricsCsvQuery, MetricsView } from '../contract/metrics.ts'

type Cell = string | number | null
type Table = readonly (readonly Cell[])[]

const tables: Readonly<Record<NonNullable<MetricsCsvQuery['of']>, (metrics: MetricsView) => Table>> = {
  series: ({ series }) => [
    ['at', 'total', 'succeeded', 'p50Ms', 'p95Ms'],
    ...series.map(({ at, total, succeeded, p50, p95 }) => [at, total, succeeded, p50, p95]),
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

const cellText = (cell: Cell): string => {
  if (cell === null) return ''
  const text = String(cell)
  // What begins so is a formula to a spreadsheet.
  const tame = typeof cell === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(tame) ? `"${tame.replaceAll('"', '""')}"` : tame
}

/**
 * Metrics as a table for a spreadsheet, its first line the names of the columns.
 * @param of - What the rows are.
 * @see RFC 4180
 */
export const metricsCsv = (metrics: MetricsView, of: NonNullable<MetricsCsvQuery['of']>): string =>
  tables[of](metrics)
    .map((row) => `${row.map(cellText).join(',')}\r\n`)
    .join('')
