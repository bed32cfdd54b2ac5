import { readFileSync, writeFileSync } from 'node:fs'
import type { Measured } from './measure.ts'
import { callRows, coldRow } from './rows.ts'
import type { Row } from './rows.ts'
import type { Cost } from './subjectProcess.ts'

/** A row as it was measured, to be kept: rows can be measured one by one, and a run that is cut off loses only the row it was at. */
export interface Recorded {
  readonly command: string
  /** When it ended, in UTC. */
  readonly at: string
  readonly machine: string
  readonly load: readonly [number, number]
  readonly costs: Readonly<Record<string, readonly Cost[]>>
  readonly faults: Readonly<Record<string, string>>
}

/** A row that was recorded, as it was measured. */
export interface RecordedRow extends Recorded {
  readonly measured: Measured
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
const rounded = (cost: Cost): Cost =>
  Object.fromEntries(
    Object.entries(cost).map(([name, value]) => [name, Math.round(Number(value) * 100) / 100]),
  ) as never

/** Keeps a row that was measured in full. */
export function recordRow({ row, costs, faults, load }: Measured, how: Pick<Recorded, 'command' | 'machine'>): void {
  const recorded: Recorded = {
    ...how,
    at: new Date().toISOString().slice(0, 16),
    load,
    costs: Object.fromEntries([...costs].map(([subject, list]) => [subject, list.map(rounded)])),
    faults: Object.fromEntries(faults),
  }
  const all = { ...read(), [row.name]: recorded }
  const rows = Object.entries(all).map(([name, one]) => `  ${JSON.stringify(name)}: ${JSON.stringify(one)}`)
  writeFileSync(file, `{\n${rows.join(',\n')}\n}\n`)
}

/** All rows that were recorded, in the order of the contract. */
export function recordedRows(): readonly RecordedRow[] {
  const all = read()
  return [...callRows, coldRow].flatMap((row: Row) => {
    const recorded = all[row.name]
    if (!recorded) return []
    const { costs, faults, load } = recorded
    const measured = { row, costs: new Map(Object.entries(costs)), faults: new Map(Object.entries(faults)), load }
    return [{ ...recorded, measured }]
  })
}
