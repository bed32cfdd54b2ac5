import { Worker } from 'node:worker_threads'
import type { ThreadCall, ThreadData, ThreadFunctions, ThreadResponse } from './chainThread.ts'

/** A thread that reads or writes a file of the chain store. */
export interface ChainThread<Functions extends Partial<ThreadFunctions>> {
  /**
   * Calls a function in the thread. The calls of a turn are one message and one transaction.
   * @returns Rejects if they failed: then none of them had an effect.
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

/** Starts a thread. */
export const startChainThread = <Functions extends Partial<ThreadFunctions>>(
  data: ThreadData,
): ChainThread<Functions> => {
  // The worker inherits the flags of the process, such as those to run from source.
  const worker = new Worker(new URL(threadFile, import.meta.url), { workerData: data })
  worker.unref()
  let turn: Pending[] = []
  const sent: Pending[][] = []
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
    sent.push(calls)
    // The process must not exit before a write.
    worker.ref()
    worker.postMessage(calls.map(({ name, args }): ThreadCall => ({ name, args })))
  }
  worker.on('message', (response: ThreadResponse) => {
    const calls = sent.shift() ?? []
    if (sent.length === 0) worker.unref()
    if ('results' in response) for (const [at, { resolve }] of calls.entries()) resolve(response.results[at] as never)
    else
      rejectAll(
        calls,
        response.failed === 'damaged' ? new ChainFileDamage(response.message) : new Error(response.message),
      )
  })
  worker.on('error', () => {})
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      hasEnded = true
      for (const calls of sent.splice(0)) rejectAll(calls, new Error('the thread of the chain store has ended'))
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
