import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Order, ServerReport } from './soakServer.ts'

/** Servers in a separate process, so that the work and memory of each side can be measured. */
export interface SoakServer {
  /** Two endpoints of one chain, with temporary faults. */
  readonly urls: readonly [string, string]
  /** An endpoint with every fault. */
  readonly harshUrl: string
  readonly report: () => Promise<ServerReport>
  readonly stop: () => Promise<void>
}

/** Starts them. */
export async function startSoakServer(seed: number, share: number): Promise<SoakServer> {
  const file = fileURLToPath(new URL('soakServer.ts', import.meta.url))
  const child = fork(file, [seed, share].map(String), { execArgv: ['--conditions=@keyrail/source'] })
  const exited = once(child, 'exit')
  const failed = exited.then(([code]): never => {
    throw new Error(`the servers of the soak ended with ${code}`)
  })
  failed.catch(() => {})
  const heard = async <T>(): Promise<T> => {
    const [message] = (await Promise.race([once(child, 'message'), failed])) as [T]
    return message
  }
  const [one, two, harshUrl] = await heard<[string, string, string]>()
  return {
    urls: [one, two],
    harshUrl,
    report: () => {
      const report = heard<ServerReport>()
      child.send('report' satisfies Order)
      return report
    },
    stop: async () => {
      child.disconnect()
      await exited
    },
  }
}
