import type { Measured } from './measure.ts'
import type { MeasuredFigures } from './measureFigures.ts'
import type { Bar } from './rows.ts'
import { median, medianRatio } from './statistics.ts'
import type { Cost } from './subjectProcess.ts'

/** A row of either kind, as it was measured. */
export type AnyMeasured = Measured | MeasuredFigures

/** One figure of a row beside what it may be at most. */
export interface Finding {
  readonly subject: string
  /** What the ratio is to; undefined for what is no ratio. */
  readonly beside: string | undefined
  readonly what: 'wall' | 'CPU' | 'peak RSS' | 'live heap' | 'ratio' | 'time' | 'memory'
  /** A ratio; of the live heap and of memory MB, of time milliseconds. Undefined where the subject could not run. */
  readonly value: number | undefined
  readonly most: number
  /** The row's reference against itself; undefined for what is no ratio. */
  readonly itself: number | undefined
  /** Of a figure whose reference was not within 5 % of itself, nothing can be said. */
  readonly outcome: 'met' | 'missed' | 'does not count' | 'not measured'
}

const STEADY = 0.05

/**
 * The figure of a subject as a ratio to another's of the same round.
 *
 * @param subject - Whose.
 * @param of - Which.
 * @param beside - The other. @default the row's reference
 */
export function getRatio(
  { row, costs }: Measured,
  subject: string,
  of: (cost: Cost) => number,
  beside: string = row.reference,
): number | undefined {
  const mine = costs.get(subject)
  const reference = costs.get(beside)
  return mine && reference ? medianRatio(mine.map(of), reference.map(of)) : undefined
}

/** Holds the figures of a row against its bars. */
export const checkBars = (measured: AnyMeasured): readonly Finding[] =>
  'figures' in measured ? checkFigures(measured) : measured.row.bars.flatMap((bar) => checkBar(measured, bar))

const checkFigures = ({ row, figures }: MeasuredFigures): readonly Finding[] =>
  row.figures.flatMap(({ key, title, unit, most, control }): Finding[] => {
    if (most === undefined) return []
    const values = figures.get(key)
    const value = values && median(values)
    const controls = control === undefined ? undefined : figures.get(control)
    const itself = controls && median(controls)
    const steady = control === undefined || isSteady(itself)
    const outcome = value === undefined ? 'not measured' : !steady ? 'does not count' : value <= most ? 'met' : 'missed'
    const what = unit === '×' ? 'ratio' : unit === 'MB' ? 'memory' : 'time'
    return [{ subject: title, beside: undefined, what, value, most, itself, outcome }]
  })

const isSteady = (itself: number | undefined): boolean => itself !== undefined && Math.abs(itself - 1) <= STEADY

function checkBar(measured: Measured, bar: Bar): readonly Finding[] {
  const { row, costs } = measured
  const { subject, beside = row.reference } = bar
  const findings: Finding[] = []
  const ratio = (what: Finding['what'], most: number | undefined, of: (cost: Cost) => number): void => {
    if (most === undefined) return
    const value = getRatio(measured, subject, of, beside)
    const itself = getRatio(measured, row.again, of)
    const outcome =
      value === undefined ? 'not measured' : !isSteady(itself) ? 'does not count' : value <= most ? 'met' : 'missed'
    findings.push({ subject, beside, what, value, most, itself, outcome })
  }
  ratio('wall', bar.wall, ({ wallMs }) => wallMs)
  ratio('CPU', bar.cpu, ({ cpuMs }) => cpuMs)
  ratio('peak RSS', bar.peakRss, ({ peakRssMb }) => peakRssMb)
  if (bar.heapMb !== undefined) {
    const weighed = costs.get(subject)?.flatMap(({ heapMb }) => heapMb ?? []) ?? []
    const value = weighed.length ? median(weighed) : undefined
    const outcome = value === undefined ? 'not measured' : value <= bar.heapMb ? 'met' : 'missed'
    findings.push({
      subject,
      beside: undefined,
      what: 'live heap',
      value,
      most: bar.heapMb,
      itself: undefined,
      outcome,
    })
  }
  return findings
}
