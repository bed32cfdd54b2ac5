import { startServer } from '../server/startServer.ts'
import { single } from './bodies.ts'
import { runLoad } from './load.ts'
import { startTarget } from './startTarget.ts'
import type { RunningTarget } from './startTarget.ts'

// Run by measureFigures with the number of rounds. Sends the same calls to one service, to the workers of another one, and to as many separate services.

const WORKERS = 4
const SECONDS = 2
const WARM_UP_SECONDS = 5
/** 1,600 calls a second in total, if the machine is fast enough: no process is idle, and none waits for a core all the time. */
const steady = { connections: 16, pauseMs: 40 }

const server = await startServer()
const opened: RunningTarget[] = []
const open = async (name: string, program?: 'workers'): Promise<RunningTarget> => {
  const target = await startTarget(name, server.url, program)
  opened.push(target)
  return target
}

const getCpuUs = async (targets: ReadonlySet<RunningTarget>): Promise<number> => {
  const used = await Promise.all([...targets].map((target) => target.used()))
  return used.reduce((sum, { cpuUs }) => sum + cpuUs, 0)
}

/** Sends the same load to each target, and twice the load to a target that is listed twice. @returns The CPU time of a call. */
const measure = async (targets: readonly RunningTarget[], load = steady, seconds = SECONDS): Promise<number> => {
  const before = await getCpuUs(new Set(targets))
  const all = await Promise.all(
    targets.map(({ target: { url, paths } }) =>
      runLoad(url, { ...load, paths: paths['accepted'] ?? [], bodies: single }, seconds),
    ),
  )
  const after = await getCpuUs(new Set(targets))
  let requests = 0
  for (const served of all) {
    if (served.requests === 0 || served.lost > 0 || served.rejected > 0)
      throw new Error(`a slice went wrong: ${JSON.stringify(served)}`)
    requests += served.requests
  }
  return (after - before) / requests
}

const [, , rounds = '1'] = process.argv
try {
  const separate: RunningTarget[] = []
  while (separate.length < WORKERS) separate.push(await open('service'))
  const one = Array.from({ length: WORKERS }, () => separate[0] as RunningTarget)
  const workers = Array.from<RunningTarget>({ length: WORKERS }).fill(await open(String(WORKERS), 'workers'))
  const subjects = { separate, workers, one, again: separate }
  const names = Object.keys(subjects) as (keyof typeof subjects)[]
  // The same number of calls for each process.
  for (const name of ['separate', 'workers'] as const)
    await measure(subjects[name], { ...steady, pauseMs: 0 }, WARM_UP_SECONDS)
  const seen: Record<keyof typeof subjects, number[]> = { separate: [], workers: [], one: [], again: [] }
  for (let round = 0; round < Number(rounds); round++)
    for (const name of round % 2 ? names.toReversed() : names) seen[name].push(await measure(subjects[name]))
  // As many calls as they can take.
  const busy: Record<'workers' | 'one', number[]> = { workers: [], one: [] }
  const busyNames = ['workers', 'one'] as const
  const getBusyCpuUs = (name: 'workers' | 'one'): Promise<number> =>
    measure(subjects[name].slice(0, 1), { connections: 64, pauseMs: 0 })
  for (const name of busyNames) await getBusyCpuUs(name)
  for (let round = 0; round < Number(rounds); round++)
    for (const name of round % 2 ? busyNames.toReversed() : busyNames) busy[name].push(await getBusyCpuUs(name))
  const beside = (name: keyof typeof subjects, reference: keyof typeof subjects): readonly number[] =>
    seen[name].map((cpuUs, round) => cpuUs / (seen[reference][round] ?? Number.NaN))
  process.stdout.write(
    JSON.stringify({
      ratio: beside('workers', 'separate'),
      control: beside('again', 'separate'),
      toOne: beside('workers', 'one'),
      toOneBusy: busy.workers.map((cpuUs, round) => cpuUs / (busy.one[round] ?? Number.NaN)),
      separateToOne: beside('separate', 'one'),
      workers: seen.workers,
      separate: seen.separate,
      one: seen.one,
    }),
  )
} finally {
  for (const target of opened) target.stop()
  server.stop()
}
