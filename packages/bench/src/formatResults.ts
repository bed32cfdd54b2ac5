import { formatTable } from './formatTable.ts'
import { checkBars, getRatio } from './checkBars.ts'
import type { AnyMeasured, Finding } from './checkBars.ts'
import { ROUNDS_PER_PROCESS } from './measure.ts'
import type { Measured } from './measure.ts'
import type { MeasuredFigures } from './measureFigures.ts'
import type { RecordedRow } from './recordedRows.ts'
import { median, medianInterval } from './statistics.ts'
import type { Cost } from './subjectProcess.ts'

const digitsByUnit = { '×': 2, µs: 1, ms: 1, MB: 0 }
/** Other figures are ratios. */
const units: Partial<Record<Finding['what'], 'ms' | 'MB'>> = { 'live heap': 'MB', time: 'ms', memory: 'MB' }

const fixed = (value: number | undefined, digits = 2): string => value?.toFixed(digits) ?? ''

const formatLoad = ({ load }: AnyMeasured): string =>
  `load of the machine ${fixed(load[0], 1)} before, ${fixed(load[1], 1)} after.`
const formatProblems = ({ problems }: AnyMeasured): string[] =>
  [...problems].map(([subject, problem]) => `Not measured: ${subject} (${problem}).`)

/** Formats a row as a table: the cost of each subject, or the figures. */
export const formatRow = (measured: AnyMeasured): string =>
  'figures' in measured ? formatFigures(measured) : formatCosts(measured)

function formatFigures(measured: MeasuredFigures): string {
  const { row, figures } = measured
  const lines = row.figures.flatMap(({ key, title, unit }) => {
    const values = figures.get(key)
    if (!values) return []
    const digits = digitsByUnit[unit]
    const of = [median(values), ...medianInterval(values), Math.min(...values), Math.max(...values)].map((value) =>
      fixed(value, digits),
    )
    return [[title, unit, ...of, String(values.length)]]
  })
  return [
    `### ${row.title} (\`${row.name}\`)`,
    `Fresh processes of ${ROUNDS_PER_PROCESS} rounds at most; ${formatLoad(measured)}`,
    formatTable(['figure', 'unit', 'median', 'from', 'to', 'lowest', 'highest', 'times taken'], lines),
    row.note,
    ...formatProblems(measured),
  ].join('\n\n')
}

function formatCosts(measured: Measured): string {
  const { row, costs } = measured
  const rounds = costs.get(row.reference)?.length ?? 0
  const weighed = row.bars.some(({ heapMb }) => heapMb !== undefined)
  const lines = [...costs].map(([subject, list]) => {
    const middle = (of: (cost: Cost) => number): number => median(list.map(of))
    return [
      subject,
      fixed(getRatio(measured, subject, ({ wallMs }) => wallMs)),
      fixed(getRatio(measured, subject, ({ cpuMs }) => cpuMs)),
      fixed(
        middle(({ wallMs }) => wallMs),
        1,
      ),
      fixed(
        middle(({ cpuMs }) => cpuMs),
        1,
      ),
      fixed(
        middle(({ peakRssMb }) => peakRssMb),
        0,
      ),
      ...(weighed
        ? [
            fixed(
              middle(({ heapMb = 0 }) => heapMb),
              0,
            ),
          ]
        : []),
    ]
  })
  const head = ['subject', 'wall ×', 'CPU ×', 'wall ms', 'CPU ms', 'peak RSS MB', ...(weighed ? ['live heap MB'] : [])]
  return [
    `### ${row.title} (\`${row.name}\`)`,
    `${rounds} rounds, × ${row.reference}; ${formatLoad(measured)}`,
    formatTable(head, lines),
    ...formatProblems(measured),
  ].join('\n\n')
}

/** Formats the table of bars: each figure and its bar. */
export function formatBars(all: readonly AnyMeasured[]): string {
  const line = ({ row }: AnyMeasured, { subject, beside, what, value, most, itself, outcome }: Finding): string[] => {
    const unit = units[what]
    const digits = unit ? digitsByUnit[unit] : 2
    const suffix = unit ? ` ${unit}` : ''
    return [
      row.title,
      subject,
      beside ?? '',
      what,
      fixed(value, digits) + (value === undefined ? '' : suffix),
      `${most}${suffix}`,
      fixed(itself),
      outcome,
    ]
  }
  return formatTable(
    ['row', 'subject', 'beside', 'of', 'is', 'at most', 'reference against itself', 'outcome'],
    all.flatMap((measured) => checkBars(measured).map((finding) => line(measured, finding))),
  )
}

/** Formats RESULTS.md: the bars first, then each row with the command that measured it. */
export function formatResults(rows: readonly RecordedRow[]): string {
  return [
    '# Results',
    'Written by `npm run measure -- bench`, row by row; the figures of each round are in `results.json`. Ratios are medians of the ratios of each round,\n' +
      'milliseconds and megabytes medians of the rounds. A ratio counts only if the reference, compared with itself, is within 5 % of 1. Bars in\n' +
      'milliseconds or megabytes are for the machine of the run. The median is between `from` and `to` with 95 % certainty (bootstrap).',
    '## Bars',
    formatBars(rows.map(({ measured }) => measured)),
    '## Rows',
    ...rows.map(
      ({ measured, command, at, machine }) => `${formatRow(measured)}\n\n\`${command}\`, ${at} UTC, ${machine}`,
    ),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n')
}
