import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Cost, Order } from './subjectProcess.ts'

/** A subject in a process of its own. */
export interface RunningSubject {
  readonly run: (order: Order) => Promise<Cost>
  readonly stop: () => void
}

/**
 * Starts a process that makes calls in one way and in no other: what V8 learnt from one subject cannot slow or speed another, and each
 * pays for its own garbage.
 *
 * @param name - A name of subjects.ts.
 * @param url - The server.
 * @throws where the subject cannot be opened: an option that is not built yet, a library that is not installed.
 */
export async function startSubject(name: string, url: string): Promise<RunningSubject> {
  const child = fork(new URL('subjectProcess.ts', import.meta.url), [name, url], { execArgv: ['--expose-gc'] })
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
      const answer = message()
      child.send(order)
      return (await answer) as Cost
    },
    stop: () => child.disconnect(),
  }
}
