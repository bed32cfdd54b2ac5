import type { Measured } from './measure.ts'
import type { MeasuredFigures } from './measureFigures.ts'
import type { Bar } from './rows.ts'
import { median, medianRatio } from './statistics.ts'
import type { Cost } from './subjectProcess.ts'

/** A measured row of either kind. */
export type AnyMeasured = Measured | MeasuredFigures

/** A figure of a row, compared with its bar. */
export interface Finding {
  readonly subject: string
  /** What the ratio compares with; undefined if the figure is not a ratio. */
  readonly beside: string | undefined
  readonly what: 'wall' | 'CPU' | 'peak RSS' | 'live heap' | 'ratio' | 'time' | 'memory'
  /** A ratio, MB of heap or memory, or milliseconds. Undefined if the subject could not run. */
  readonly value: number | undefined
  readonly most: number
  /** The reference of the row compared with itself; undefined if the figure is not a ratio. */
  readonly itself: number | undefined
  /** A figure does not count if its reference was not within 5 % when measured against itself. */
  readonly outcome: 'met' | 'missed' | 'does not count' | 'not measured'
}

const STEADY = 0.05

/**
 * Gets the median ratio of two subjects, each ratio within a round.
 *
 * @param subject - The subject.
 * @param of - Reads the figure from its costs.
 * @param beside - The subject that it is compared with. @default the reference of the row
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

/** Compares the figures of a row with its bars. */
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
