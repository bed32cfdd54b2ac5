import { formatTable } from './formatTable.ts'
import { judge, ratioOf } from './judge.ts'
import type { Finding } from './judge.ts'
import type { Measured } from './measure.ts'
import type { RecordedRow } from './recordedRows.ts'
import { median } from './statistics.ts'
import type { Cost } from './subjectProcess.ts'

const fixed = (value: number | undefined, digits = 2): string => value?.toFixed(digits) ?? ''

/** One table: what each subject of a row cost. */
export function formatRow(measured: Measured): string {
  const { row, costs, faults, load } = measured
  const rounds = costs.get(row.reference)?.length ?? 0
  const weighed = row.bars.some(({ heapMb }) => heapMb !== undefined)
  const lines = [...costs].map(([subject, list]) => {
    const middle = (of: (cost: Cost) => number): number => median(list.map(of))
    return [
      subject,
      fixed(ratioOf(measured, subject, ({ wallMs }) => wallMs)),
      fixed(ratioOf(measured, subject, ({ cpuMs }) => cpuMs)),
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
    `${rounds} rounds, × ${row.reference}; load of the machine ${fixed(load[0], 1)} before, ${fixed(load[1], 1)} after.`,
    formatTable(head, lines),
    ...[...faults].map(([subject, fault]) => `Not measured: ${subject} (${fault}).`),
  ].join('\n\n')
}

/** The table of bars: each figure beside what it may be. */
export function formatBars(all: readonly Measured[]): string {
  const line = ({ row }: Measured, { subject, beside, what, value, most, itself, verdict }: Finding): string[] => {
    const unit = what === 'live heap' ? ' MB' : ''
    const digits = unit ? 0 : 2
    return [
      row.title,
      subject,
      beside ?? '',
      what,
      fixed(value, digits) + (value === undefined ? '' : unit),
      `${most}${unit}`,
      fixed(itself),
      verdict,
    ]
  }
  return formatTable(
    ['row', 'subject', 'beside', 'of', 'is', 'at most', 'reference against itself', 'verdict'],
    all.flatMap((measured) => judge(measured).map((finding) => line(measured, finding))),
  )
}

/** The file of results: the bars first, then each row with the command that measured it. */
export function formatResults(rows: readonly RecordedRow[]): string {
  return [
    '# Results',
    'Written by `npm run bench`, row by row; the figures of each round are in `results.json`. Ratios are medians of the ratios of each round,\n' +
      'milliseconds and megabytes medians of the rounds. Beside each bar stands the reference against itself: a figure counts only where that is\n' +
      'within 5 % of 1.',
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
