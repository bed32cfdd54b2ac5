import { readFileSync, writeFileSync } from 'node:fs'
import type { AnyMeasured } from './checkBars.ts'
import { rows } from './rows.ts'
import type { Cost } from './subjectProcess.ts'

/** A row as it was measured, to be kept: rows can be measured one by one, and a run that is cut off loses only the row it was at. */
export interface Recorded {
  readonly command: string
  /** When it ended, in UTC. */
  readonly at: string
  readonly machine: string
  readonly load: readonly [number, number]
  readonly faults: Readonly<Record<string, string>>
  /** Of a row with a reference, by subject. */
  readonly costs?: Readonly<Record<string, readonly Cost[]>>
  /** Of a row of figures, by key. */
  readonly figures?: Readonly<Record<string, readonly number[]>>
}

/** A row that was recorded, as it was measured. */
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

/** Two digits are more than what a machine repeats. */
const rounded = (value: number): number => Math.round(value * 100) / 100
const roundedCost = (cost: Cost): Cost =>
  Object.fromEntries(Object.entries(cost).map(([name, value]) => [name, rounded(Number(value))])) as never

const toLists = (measured: AnyMeasured): Pick<Recorded, 'costs' | 'figures'> =>
  'figures' in measured
    ? { figures: Object.fromEntries([...measured.figures].map(([key, values]) => [key, values.map(rounded)])) }
    : { costs: Object.fromEntries([...measured.costs].map(([subject, list]) => [subject, list.map(roundedCost)])) }

/** Keeps a row that was measured in full. */
export function recordRow(measured: AnyMeasured, how: Pick<Recorded, 'command' | 'machine'>): void {
  const recorded: Recorded = {
    ...how,
    at: new Date().toISOString().slice(0, 16),
    load: measured.load,
    ...toLists(measured),
    faults: Object.fromEntries(measured.faults),
  }
  const all = { ...read(), [measured.row.name]: recorded }
  const lines = Object.entries(all).map(([name, one]) => `  ${JSON.stringify(name)}: ${JSON.stringify(one)}`)
  writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`)
}

/** All rows that were recorded, in the order of the contract. */
export function recordedRows(): readonly RecordedRow[] {
  const all = read()
  return rows.flatMap((row): RecordedRow[] => {
    const recorded = all[row.name]
    if (!recorded) return []
    const { load } = recorded
    const faults = new Map(Object.entries(recorded.faults))
    const measured: AnyMeasured =
      'figures' in row
        ? { row, figures: new Map(Object.entries(recorded.figures ?? {})), faults, load }
        : { row, costs: new Map(Object.entries(recorded.costs ?? {})), faults, load }
    return [{ ...recorded, measured }]
  })
}
