import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { ClusterStores } from '@keyrail/gateway/test/usage/clusterInstance.ts'
import type { InstanceCalls, InstanceReply } from './instanceProcess.ts'

/** A running instance with its clients. */
export interface Instance extends Omit<InstanceCalls, 'open'> {
  /** How many granted units its clients have acknowledged. */
  readonly acknowledged: () => number
  /** Kills the process with SIGKILL. Calls that wait for it never end. */
  readonly kill: () => Promise<void>
  /** Ends the process. */
  readonly end: () => Promise<void>
}

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts an instance and connects it to its stores. */
export const startInstance = async (stores: ClusterStores, outageGrant: number): Promise<Instance> => {
  const child = fork(join(import.meta.dirname, 'instanceProcess.ts'), {
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'ipc'],
    execArgv: ['--conditions=@keyrail/source'],
  })
  running.add(child)
  const exited = once(child, 'exit').finally(() => running.delete(child))
  let acknowledged = 0
  const pipe = child.stdio[3] as Readable
  pipe.on('data', (chunk: Buffer) => (acknowledged += chunk.length))

  let calls = 0
  const waiting = new Map<number, (reply: InstanceReply) => void>()
  child.on('message', (reply: InstanceReply) => waiting.get(reply.number)?.(reply))
  const call =
    <Name extends keyof InstanceCalls>(name: Name) =>
    (...values: Parameters<InstanceCalls[Name]>): ReturnType<InstanceCalls[Name]> => {
      const number = (calls += 1)
      const replied = new Promise((resolve, reject) => {
        waiting.set(number, ({ value, error }) => {
          waiting.delete(number)
          if (error === undefined) resolve(value)
          else reject(new Error(`an instance failed at "${name}": ${error}`))
        })
        child.send({ number, name, values })
      })
      return replied as ReturnType<InstanceCalls[Name]>
    }
  const end = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  await call('open')(stores, outageGrant)
  return {
    load: call('load'),
    report: call('report'),
    stop: call('stop'),
    close: call('close'),
    acknowledged: () => acknowledged,
    kill: async () => {
      const drained = once(pipe, 'end')
      child.kill('SIGKILL')
      await Promise.all([exited, drained])
    },
    end,
  }
}
