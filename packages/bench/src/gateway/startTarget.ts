import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Used } from './reportUsage.ts'
import type { Target } from './target.ts'
import { putLoad } from './load.ts'
import type { Load, Served } from './load.ts'

/** A slice of load, and what it cost the target. */
export interface Slice extends Served {
  /** Processor time of an answer, in microseconds. */
  readonly cpuUs: number
  /** What the target's process held when it ended. */
  readonly rssMb: number
  /** The longest that its event loop stood still. */
  readonly stallMs: number
}

/** A target in a process of its own. */
export interface RunningTarget {
  readonly target: Target
  readonly used: () => Promise<Used>
  readonly slice: (load: Load, seconds: number, url?: string) => Promise<Slice>
  readonly stop: () => void
}

/** The programs that open targets, by the names of those. */
const programs = {
  targets: 'targetProcess.ts',
  workers: 'workersProcess.ts',
  manyKeys: '../../test/gateway/manyKeysProcess.ts',
  cluster: '../../test/gateway/clusterProcess.ts',
}

/** Starts a target in front of an upstream. `name` is one of targets.ts, or one of the program that is named. `collector` is where it may send spans. */
export async function startTarget(
  name: string,
  upstream: string,
  program: keyof typeof programs = 'targets',
  collector = '',
): Promise<RunningTarget> {
  const child = fork(new URL(programs[program], import.meta.url), [name, upstream, collector], {
    // What stands with the tests is made of sources.
    execArgv: program === 'targets' || program === 'workers' ? [] : ['--conditions=@keyrail/source'],
  })
  const gone = once(child, 'exit').then(() => {
    throw new Error(`the process of '${name}' ended`)
  })
  gone.catch(() => {})
  const message = async (): Promise<unknown> =>
    Promise.race([once(child, 'message').then(([value]) => value as unknown), gone])
  const target = (await message()) as Target
  const used = async (): Promise<Used> => {
    const answer = message()
    child.send('used')
    return (await answer) as Used
  }
  return {
    target,
    used,
    slice: async (load, seconds, url = target.url) => {
      const before = await used()
      const served = await putLoad(url, load, seconds)
      const after = await used()
      const { rssMb, stallMs } = after
      return { ...served, rssMb, stallMs, cpuUs: (after.cpuUs - before.cpuUs) / served.requests }
    },
    stop: () => child.disconnect(),
  }
}
