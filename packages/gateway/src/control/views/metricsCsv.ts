import type { Network } from '../../lib/network.ts'
import type { MetricsCsvQuery, MetricsView } from '../contract/metrics.ts'

type Cell = string | number | null
type Table = readonly (readonly Cell[])[]

const tables: Readonly<Record<NonNullable<MetricsCsvQuery['of']>, (metrics: MetricsView) => Table>> = {
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

const formatCell = (cell: Cell): string => {
  if (cell === null) return ''
  const text = String(cell)
  // Spreadsheets would run these as formulas.
  const escaped = typeof cell === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped
}

/**
 * Formats metrics as CSV with a header row.
 * @param of - The kind of rows.
 * @see RFC 4180
 */
export const toMetricsCsv = (metrics: MetricsView, of: NonNullable<MetricsCsvQuery['of']>): string =>
  tables[of](metrics)
    .map((row) => `${row.map(formatCell).join(',')}\r\n`)
    .join('')

const maxNameLength = 40

/** Reduces a name to a to z, digits and hyphens, which every file system supports. */
const toSlug = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxNameLength)
    .replaceAll(/^-+|-+$/g, '')

/**
 * Names a metrics file, so that files of several apps and keys can share a folder.
 * @param subject.name - The name of the app or key. `subject.id` is used instead if no character of the name is allowed.
 * @param subject.network - The network of an API key.
 * @returns Such as `keyrail-portfolio-series-week.csv`: only a to z, digits, hyphens and one dot.
 */
export const toCsvFileName = (
  { id, name, network }: { readonly id: string; readonly name: string; readonly network?: Network },
  { range, of }: { readonly range: MetricsView['range']; readonly of: NonNullable<MetricsCsvQuery['of']> },
): string =>
  `${['keyrail', toSlug(name) || toSlug(id), ...(network === undefined ? [] : [network]), of, range].join('-')}.csv`
