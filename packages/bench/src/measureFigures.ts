import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { ROUNDS_PER_PROCESS } from './measure.ts'
import type { FigureRow } from './figureRow.ts'

/** The figures that a program measured, in all its processes. */
export interface MeasuredFigures {
  readonly row: FigureRow
  /** By the key of the figure. */
  readonly figures: ReadonlyMap<string, readonly number[]>
  /** Why the program failed. */
  readonly problems: ReadonlyMap<string, string>
  /** The load average of the machine over one minute, at the start and at the end of the row. */
  readonly load: readonly [number, number]
}

/** Measures a row of figures. The program runs in a new process every few rounds. */
export async function measureFigures(
  row: FigureRow,
  { rounds: wanted }: { readonly rounds: number },
): Promise<MeasuredFigures> {
  const rounds = Math.min(wanted, row.enough ?? wanted)
  const figures = new Map<string, number[]>()
  const problems = new Map<string, string>()
  const [before = 0] = loadavg()
  for (let left = rounds; left > 0; left -= ROUNDS_PER_PROCESS) {
    try {
      for (const [key, values] of Object.entries(await runProgram(row, Math.min(left, ROUNDS_PER_PROCESS)))) {
        figures.set(key, [...(figures.get(key) ?? []), ...values])
      }
    } catch (error) {
      // An incomplete row is not reported.
      figures.clear()
      problems.set(row.name, (error as Error).message)
      break
    }
  }
  const [after = 0] = loadavg()
  return { row, figures, problems, load: [before, after] }
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
  const output = text(child.stdout)
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`the program ended with ${code}`)
  return JSON.parse(await output) as Record<string, readonly number[]>
}
