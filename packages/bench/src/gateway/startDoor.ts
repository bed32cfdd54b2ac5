import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Used } from './tellOfDoor.ts'
import type { Door } from './door.ts'
import { putLoad } from './load.ts'
import type { Load, Served } from './load.ts'

/** A slice of load, and what it cost the door. */
export interface Slice extends Served {
  /** Processor time of an answer, in microseconds. */
  readonly cpuUs: number
  /** What the door's process held when it ended. */
  readonly rssMb: number
  /** The longest that its event loop stood still. */
  readonly stallMs: number
}

/** A door in a process of its own. */
export interface RunningDoor {
  readonly door: Door
  readonly used: () => Promise<Used>
  readonly slice: (load: Load, seconds: number) => Promise<Slice>
  readonly stop: () => void
}

/** The programs that open doors, by the names of those. */
const programs = {
  doors: 'doorProcess.ts',
  manyKeys: '../../test/gateway/manyKeysProcess.ts',
  cluster: '../../test/gateway/clusterProcess.ts',
}

/** Starts a door in front of an upstream. `name` is one of doors.ts, or one of the program that is named. */
export async function startDoor(
  name: string,
  upstream: string,
  program: keyof typeof programs = 'doors',
): Promise<RunningDoor> {
  const child = fork(new URL(programs[program], import.meta.url), [name, upstream], {
    // What stands with the tests is made of sources.
    execArgv: program === 'doors' ? [] : ['--conditions=@keyrail/source'],
  })
  const gone = once(child, 'exit').then(() => {
    throw new Error(`the process of '${name}' ended`)
  })
  gone.catch(() => {})
  const message = async (): Promise<unknown> =>
    Promise.race([once(child, 'message').then(([value]) => value as unknown), gone])
  const door = (await message()) as Door
  const used = async (): Promise<Used> => {
    const answer = message()
    child.send('used')
    return (await answer) as Used
  }
  return {
    door,
    used,
    slice: async (load, seconds) => {
      const before = await used()
      const served = await putLoad(door.url, load, seconds)
      const after = await used()
      const { rssMb, stallMs } = after
      return { ...served, rssMb, stallMs, cpuUs: (after.cpuUs - before.cpuUs) / served.requests }
    },
    stop: () => child.disconnect(),
  }
}
