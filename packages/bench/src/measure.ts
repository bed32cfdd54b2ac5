import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { CallRow, Row } from './rows.ts'
import { startSubject } from './startSubject.ts'
import type { RunningSubject } from './startSubject.ts'
import { shuffle } from './statistics.ts'
import type { Cost } from './subjectProcess.ts'

/** The costs of the subjects of a row, by round. */
export interface Measured {
  readonly row: Row
  /** By subject, without those that could not run. */
  readonly costs: ReadonlyMap<string, readonly Cost[]>
  /** Why subjects could not run. */
  readonly problems: ReadonlyMap<string, string>
  /** The load average of the machine over one minute, at the start and at the end of the row. */
  readonly load: readonly [number, number]
}

/** How the bench measures. */
export interface Rounds {
  readonly rounds: number
  readonly withPeers: boolean
  readonly url: string
}

/** How many rounds a process runs: chance at the start of a process affects only some of the rounds. */
export const ROUNDS_PER_PROCESS = 5

/**
 * Runs all subjects of a row in each round, in random order and one at a time.
 *
 * @param row - What to run.
 * @param run - Runs one subject once.
 */
const inRounds = async (
  row: Row,
  { rounds, withPeers }: Rounds,
  run: (subject: string, round: number) => Promise<Cost>,
): Promise<Measured> => {
  const names = [row.reference, row.again, ...row.subjects, ...(withPeers ? row.peers : [])]
  const costs = new Map<string, Cost[]>(names.map((name) => [name, []]))
  const problems = new Map<string, string>()
  const [before = 0] = loadavg()
  for (let round = 0; round < rounds; round++) {
    for (const name of shuffle([...costs.keys()])) {
      try {
        const cost = await run(name, round)
        if (cost.error) throw new Error(cost.error)
        costs.get(name)?.push(cost)
      } catch (error) {
        problems.set(name, (error as Error).message)
        costs.delete(name)
      }
    }
  }
  const [after = 0] = loadavg()
  return { row, costs, problems, load: [before, after] }
}

/** Measures a row of calls. */
export async function measureCalls(row: CallRow, rounds: Rounds): Promise<Measured> {
  const url = rounds.url + (row.path ?? '')
  const { workload } = row
  if (row.fresh) {
    const freshly = async (name: string, weigh: boolean): Promise<Cost> => {
      const subject = await startSubject(name, url)
      const cost = await subject.run({ workload, weigh })
      subject.stop()
      return cost
    }
    return inRounds(row, rounds, async (name) => {
      const cost = await freshly(name, false)
      // A garbage collection takes time and frees memory, so the heap is measured in a run that is not timed.
      const { heapMb, error } = await freshly(name, true)
      return { ...cost, ...(heapMb && { heapMb }), ...(error && { error }) }
    })
  }
  const running = new Map<string, RunningSubject>()
  const stopAll = (): void => {
    for (const subject of running.values()) subject.stop()
    running.clear()
  }
  let generation = 0
  const measured = await inRounds(row, rounds, async (name, round) => {
    if (Math.floor(round / ROUNDS_PER_PROCESS) !== generation) {
      generation = Math.floor(round / ROUNDS_PER_PROCESS)
      stopAll()
    }
    let subject = running.get(name)
    if (!subject) {
      subject = await startSubject(name, url)
      running.set(name, subject)
      await subject.run({ workload })
      await subject.run({ workload })
    }
    return subject.run({ workload })
  })
  stopAll()
  return measured
}

/** Measures whole processes, from their start to their end. */
export async function measureCold(row: Row, rounds: Rounds): Promise<Measured> {
  const run = async (name: string): Promise<Cost> => {
    const folder = row.peers.includes(name) ? '../peers' : 'cold'
    const file = fileURLToPath(new URL(`${folder}/${name.replace(' again', '')}.mjs`, import.meta.url))
    const start = performance.now()
    const child = spawn(process.execPath, [file, rounds.url], { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    const [code] = (await once(child, 'exit')) as [number]
    const wallMs = performance.now() - start
    if (code !== 0) throw new Error(`the program ended with ${code}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
    const [cpuMs = 0, peakRssMb = 0] = output.split(' ').map(Number)
    return { wallMs, cpuMs, peakRssMb }
  }
  // The first start of each program reads it from the disk.
  for (const name of [row.reference, ...row.subjects, ...(rounds.withPeers ? row.peers : [])])
    await run(name).catch(() => {})
  return inRounds(row, rounds, run)
}
