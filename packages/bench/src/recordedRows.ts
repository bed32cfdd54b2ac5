import { readFileSync, writeFileSync } from 'node:fs'
import type { AnyMeasured } from './checkBars.ts'
import { rows } from './rows.ts'
import type { Cost } from './subjectProcess.ts'

/** A measured row in results.json. Rows are recorded one by one, so that an interrupted run only loses its current row. */
export interface Recorded {
  readonly command: string
  /** The time of its end, in UTC. */
  readonly at: string
  readonly machine: string
  readonly load: readonly [number, number]
  readonly problems: Readonly<Record<string, string>>
  /** The costs by subject, for a row with a reference. */
  readonly costs?: Readonly<Record<string, readonly Cost[]>>
  /** The values by key, for a row of figures. */
  readonly figures?: Readonly<Record<string, readonly number[]>>
}

/** A recorded row with its measurements. */
export interface RecordedRow extends Recorded {
  readonly measured: AnyMeasured
}

const file = new URL('../results.json', import.meta.url)

const read = (): Record<string, Recorded> => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, Recorded>
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}

/** Further digits are noise. */
const rounded = (value: number): number => Math.round(value * 100) / 100
const roundedCost = (cost: Cost): Cost =>
  Object.fromEntries(Object.entries(cost).map(([name, value]) => [name, rounded(Number(value))])) as never

const toLists = (measured: AnyMeasured): Pick<Recorded, 'costs' | 'figures'> =>
  'figures' in measured
    ? { figures: Object.fromEntries([...measured.figures].map(([key, values]) => [key, values.map(rounded)])) }
    : { costs: Object.fromEntries([...measured.costs].map(([subject, list]) => [subject, list.map(roundedCost)])) }

/** Records a row that was measured in full. */
export function recordRow(measured: AnyMeasured, how: Pick<Recorded, 'command' | 'machine'>): void {
  const recorded: Recorded = {
    ...how,
    at: new Date().toISOString().slice(0, 16),
    load: measured.load,
    ...toLists(measured),
    problems: Object.fromEntries(measured.problems),
  }
  const all = { ...read(), [measured.row.name]: recorded }
  const lines = Object.entries(all).map(([name, one]) => `  ${JSON.stringify(name)}: ${JSON.stringify(one)}`)
  writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`)
}

/** All recorded rows, in the order of `rows`. */
export function recordedRows(): readonly RecordedRow[] {
  const all = read()
  return rows.flatMap((row): RecordedRow[] => {
    const recorded = all[row.name]
    if (!recorded) return []
    const { load } = recorded
    const problems = new Map(Object.entries(recorded.problems))
    const measured: AnyMeasured =
      'figures' in row
        ? { row, figures: new Map(Object.entries(recorded.figures ?? {})), problems, load }
        : { row, costs: new Map(Object.entries(recorded.costs ?? {})), problems, load }
    return [{ ...recorded, measured }]
  })
}
