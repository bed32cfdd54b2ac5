import { Worker } from 'node:worker_threads'
import type {
  ThreadCall,
  ThreadData,
  ThreadFunctions,
  ThreadMessage,
  ThreadOutcome,
  ThreadResponse,
} from './chainThread.ts'

/** A thread that reads or writes a chain store. */
export interface ChainThread<Functions extends Partial<ThreadFunctions>> {
  /**
   * Calls a function in the thread. The calls of a turn are one message, and one transaction of a file.
   * @returns Rejects if they failed: then none of them had an effect on a file.
   */
  readonly call: <Name extends keyof Functions & keyof ThreadFunctions>(
    name: Name,
    ...args: Parameters<ThreadFunctions[Name]>
  ) => Promise<ReturnType<ThreadFunctions[Name]>>
  /** Resolves when the thread has ended, also if it failed. */
  readonly ended: Promise<void>
  /** Waits for the calls, and ends the thread. */
  readonly close: () => Promise<void>
}

interface Pending extends ThreadCall {
  readonly resolve: (result: never) => void
  readonly reject: (error: Error) => void
}

/** The file was found to be damaged. */
export class ChainFileDamage extends Error {
  override readonly name = 'ChainFileDamage'
}

// In the source it is next to this file, in the published package next to the bundle.
const threadFile = import.meta.url.endsWith('.ts') ? './chainThread.ts' : './chainThread.js'

/** Starts a thread. @param warn - Called with what an operator should know. */
export const startChainThread = <Functions extends Partial<ThreadFunctions>>(
  data: ThreadData,
  warn: (what: string) => void = () => {},
): ChainThread<Functions> => {
  // The worker inherits the flags of the process, such as those to run from source.
  const worker = new Worker(new URL(threadFile, import.meta.url), { workerData: data })
  worker.unref()
  let turn: Pending[] = []
  const sent = new Map<number, readonly Pending[]>()
  let messages = 0
  let hasEnded = false
  const rejectAll = (calls: readonly Pending[], error: Error): void => {
    for (const { reject } of calls) reject(error)
  }
  const send = (): void => {
    const calls = turn
    turn = []
    if (hasEnded) {
      rejectAll(calls, new Error('the thread of the chain store has ended'))
      return
    }
    const id = (messages += 1)
    sent.set(id, calls)
    // The process must not exit before a write.
    worker.ref()
    const message: ThreadMessage = { id, calls: calls.map(({ name, args }): ThreadCall => ({ name, args })) }
    worker.postMessage(message)
  }
  const complete = ({ resolve, reject }: Pending, outcome: ThreadOutcome): void => {
    if ('result' in outcome) resolve(outcome.result as never)
    else reject(outcome.failed === 'damaged' ? new ChainFileDamage(outcome.message) : new Error(outcome.message))
  }
  worker.on('message', (response: ThreadResponse) => {
    if ('warning' in response) {
      warn(response.warning)
      return
    }
    const calls = sent.get(response.id) ?? []
    sent.delete(response.id)
    if (sent.size === 0) worker.unref()
    for (const [at, call] of calls.entries()) complete(call, response.outcomes[at] ?? { result: undefined })
  })
  worker.on('error', () => {})
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      hasEnded = true
      for (const calls of sent.values()) rejectAll(calls, new Error('the thread of the chain store has ended'))
      sent.clear()
      resolve()
    })
  })
  return {
    ended,
    call: (name, ...args) =>
      new Promise((resolve, reject) => {
        turn.push({ name, args, resolve, reject })
        if (turn.length === 1) setImmediate(send)
      }),
    close: async () => {
      if (hasEnded) return
      worker.ref()
      setImmediate(() => worker.postMessage('close'))
      await ended
    },
  }
}
