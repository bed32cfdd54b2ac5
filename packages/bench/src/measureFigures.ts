import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { ROUNDS_PER_PROCESS } from './measure.ts'
import type { FigureRow } from './figureRow.ts'

/** What a program found out of itself, in all its processes. */
export interface MeasuredFigures {
  readonly row: FigureRow
  /** By the key of the figure. */
  readonly figures: ReadonlyMap<string, readonly number[]>
  /** Why a process could not tell. */
  readonly faults: ReadonlyMap<string, string>
  /** The load of the machine, of one minute, when the row began and when it ended. */
  readonly load: readonly [number, number]
}

/** Measures a row of figures: the program runs in a fresh process for every few rounds. */
export async function measureFigures(
  row: FigureRow,
  { rounds: asked }: { readonly rounds: number },
): Promise<MeasuredFigures> {
  const rounds = Math.min(asked, row.enough ?? asked)
  const figures = new Map<string, number[]>()
  const faults = new Map<string, string>()
  const [before = 0] = loadavg()
  for (let left = rounds; left > 0; left -= ROUNDS_PER_PROCESS) {
    try {
      for (const [key, values] of Object.entries(await runProgram(row, Math.min(left, ROUNDS_PER_PROCESS)))) {
        figures.set(key, [...(figures.get(key) ?? []), ...values])
      }
    } catch (error) {
      // A row of which a part is missing is no row.
      figures.clear()
      faults.set(row.name, (error as Error).message)
      break
    }
  }
  const [after = 0] = loadavg()
  return { row, figures, faults, load: [before, after] }
}

async function runProgram(
  { program, args = [], source = false }: FigureRow,
  rounds: number,
): Promise<Record<string, readonly number[]>> {
  const file = fileURLToPath(new URL(program, import.meta.url))
  const flags = ['--expose-gc', ...(source ? ['--conditions=@keyrail/source'] : [])]
  const child = spawn(process.execPath, [...flags, file, String(rounds), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said = text(child.stdout)
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`the program ended with ${code}`)
  return JSON.parse(await said) as Record<string, readonly number[]>
}
