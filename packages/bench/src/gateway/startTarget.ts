import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Used } from './reportUsage.ts'
import type { Target } from './target.ts'
import { thisCheckout } from '../thisCheckout.ts'
import { runLoad } from './load.ts'
import type { Load, Served } from './load.ts'

/** A slice of load, and its cost for the target. */
export interface Slice extends Served {
  /** CPU time of a response, in microseconds. */
  readonly cpuUs: number
  /** The memory of the target's process at the end. */
  readonly rssMb: number
  /** The longest stall of its event loop. */
  readonly stallMs: number
}

/** A target in a separate process. */
export interface RunningTarget {
  readonly target: Target
  readonly used: () => Promise<Used>
  readonly slice: (load: Load, seconds: number, url?: string) => Promise<Slice>
  readonly stop: () => void
}

/** The programs that open targets, by name. */
const programs = {
  targets: 'src/gateway/targetProcess.ts',
  manyKeys: 'test/gateway/manyKeysProcess.ts',
  cluster: 'test/gateway/clusterProcess.ts',
}

/** Which program opens a target, and what it gets. */
export interface TargetOptions {
  /** @default targets */
  readonly program?: keyof typeof programs | undefined
  /** The URL for spans. */
  readonly collector?: string
  /** The checkout whose code runs. @default this one */
  readonly checkout?: URL
}

/** Starts a target in front of an upstream. `name` is one of targets.ts, or one of the given program. */
export async function startTarget(
  name: string,
  upstream: string,
  { program = 'targets', collector = '', checkout = thisCheckout }: TargetOptions = {},
): Promise<RunningTarget> {
  const child = fork(new URL(`packages/bench/${programs[program]}`, checkout), [name, upstream, collector], {
    // The programs in the test folder import sources.
    execArgv: program === 'targets' ? [] : ['--conditions=@keyrail/source'],
  })
  const gone = once(child, 'exit').then(() => {
    throw new Error(`the process of '${name}' ended`)
  })
  gone.catch(() => {})
  const message = async (): Promise<unknown> =>
    Promise.race([once(child, 'message').then(([value]) => value as unknown), gone])
  const target = (await message()) as Target
  const used = async (): Promise<Used> => {
    const reply = message()
    child.send('used')
    return (await reply) as Used
  }
  return {
    target,
    used,
    slice: async (load, seconds, url = target.url) => {
      const before = await used()
      const served = await runLoad(url, load, seconds)
      const after = await used()
      const { rssMb, stallMs } = after
      return { ...served, rssMb, stallMs, cpuUs: (after.cpuUs - before.cpuUs) / served.requests }
    },
    stop: () => child.disconnect(),
  }
}
