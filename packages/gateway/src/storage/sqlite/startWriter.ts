import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { StorageError } from '../../errors/storageError.ts'
import type { StepRows, Write } from '../write.ts'
import { sqliteError } from './sqliteError.ts'
import type { WriterAnswer, WriterQuestion } from './writerThread.ts'

/** A thread that writes to an SQLite file. */
export interface Writer {
  readonly write: Write
  /** Waits for what is in flight, and ends the thread. */
  close(): Promise<void>
}

interface Waiting {
  readonly resolve: (rows: readonly StepRows[]) => void
  readonly reject: (error: Error) => void
}

// Beside this file in the source; beside the one that holds all of it in what is published.
const threadFile = import.meta.url.endsWith('.ts') ? './writerThread.ts' : './writerThread.js'

/**
 * Makes a writer, whose thread is begun by the first write. A commit waits for the disk, which can take longer than many calls: in a thread of
 * its own it stops nobody.
 * @param file - Absolute, made before.
 * @param options.waitMs - How long to wait for somebody else who writes, in milliseconds.
 */
export const startWriter = (file: string, { waitMs }: { waitMs: number }): Writer => {
  let waiting = new Map<number, Waiting>()
  let thread: Worker | undefined
  let last = 0
  let closed: Promise<void> | undefined

  const begin = (): Worker => {
    // The process' own flags, such as those that let it run from source, hold there as well.
    const worker = new Worker(new URL(threadFile, import.meta.url), { workerData: { file, waitMs } })
    worker.on('message', (answer: WriterAnswer) => {
      const asked = waiting.get(answer.id)
      waiting.delete(answer.id)
      // Whoever has nothing to wait for may end.
      if (waiting.size === 0) {
        // While the writer is being closed, the process must not end before its thread has.
        if (closed === undefined) worker.unref()
        // A map that entries go through grows a chain of its own former tables, and with it holds all that was ever in them until a full
        // collection: see createInFlightReads.
        waiting = new Map()
      }
      if ('rows' in answer) asked?.resolve(answer.rows)
      else asked?.reject(sqliteError(answer))
    })
    worker.on('error', () => {})
    worker.on('exit', () => {
      if (thread === worker) thread = undefined
      for (const { reject } of waiting.values())
        reject(new StorageError('the database’s thread has ended', { fault: 'failed' }))
      waiting.clear()
    })
    return worker
  }

  const end = async (): Promise<void> => {
    if (thread === undefined) return
    thread.ref()
    thread.postMessage('close')
    await once(thread, 'exit')
  }

  return {
    write: (steps, { light = false } = {}) => {
      if (closed !== undefined)
        return Promise.reject(new StorageError('the database is closed', { fault: 'unavailable' }))
      return new Promise((resolve, reject) => {
        thread ??= begin()
        last += 1
        waiting.set(last, { resolve, reject })
        thread.ref()
        const question: WriterQuestion = { id: last, steps, light }
        thread.postMessage(question)
      })
    },
    close: () => (closed ??= end()),
  }
}
