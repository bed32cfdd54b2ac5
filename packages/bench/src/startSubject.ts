import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Cost, Order } from './subjectProcess.ts'
import { thisCheckout } from './thisCheckout.ts'

/** A subject in a separate process. */
export interface RunningSubject {
  readonly run: (order: Order) => Promise<Cost>
  readonly stop: () => void
}

/**
 * Starts a process that makes calls with one subject only: the optimizations of V8 for one subject do not affect another, and each
 * pays for its own garbage.
 *
 * @param name - A name of subjects.ts.
 * @param url - The server.
 * @param checkout - Whose code runs. Default: this one.
 * @throws If the subject cannot be opened, for example because a library is not installed.
 */
export async function startSubject(name: string, url: string, checkout = thisCheckout): Promise<RunningSubject> {
  const program = new URL('packages/bench/src/subjectProcess.ts', checkout)
  const child = fork(program, [name, url], { execArgv: ['--expose-gc'] })
  const gone = once(child, 'exit').then(() => {
    throw new Error(`the process of '${name}' ended`)
  })
  gone.catch(() => {})
  const message = async (): Promise<unknown> =>
    Promise.race([once(child, 'message').then(([value]) => value as unknown), gone])
  const ready = await message()
  if (ready !== 'ready') throw new Error(ready as string)
  return {
    run: async (order) => {
      const reply = message()
      child.send(order)
      return (await reply) as Cost
    },
    stop: () => child.disconnect(),
  }
}
