import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { StorageError } from '../../errors/storageError.ts'
import type { StepRows, Write } from '../database.ts'
import { toSqliteError } from './sqliteError.ts'
import type { WriterResponse, WriterRequest } from './writerThread.ts'

/** A thread that writes to an SQLite file. */
export interface Writer {
  readonly write: Write
  /** Waits for writes in flight, then ends the thread. */
  close(): Promise<void>
}

interface Pending {
  readonly resolve: (rows: readonly StepRows[]) => void
  readonly reject: (error: Error) => void
}

// In the source it is next to this file, in the published package next to the bundle.
const threadFile = import.meta.url.endsWith('.ts') ? './writerThread.ts' : './writerThread.js'

/**
 * Creates a writer. The first write starts its thread. A commit waits for the disk, which can take longer than many calls, so it runs in another
 * thread.
 * @param file - An absolute path. The file must exist.
 * @param options.waitMs - How long to wait for another process that writes, in milliseconds.
 */
export const startWriter = (file: string, { waitMs }: { waitMs: number }): Writer => {
  let pending = new Map<number, Pending>()
  let thread: Worker | undefined
  let last = 0
  let closed: Promise<void> | undefined

  const start = (): Worker => {
    // The worker inherits the flags of the process, such as those to run from source.
    const worker = new Worker(new URL(threadFile, import.meta.url), { workerData: { file, waitMs } })
    worker.on('message', (response: WriterResponse) => {
      const request = pending.get(response.id)
      pending.delete(response.id)
      // With no write pending, the process may exit.
      if (pending.size === 0) {
        // While the writer is closing, the process must not exit before its thread.
        if (closed === undefined) worker.unref()
        // A map whose entries come and go keeps its former tables, and everything that was in them, until a full garbage collection: see
        // createInFlightReads.
        pending = new Map()
      }
      if ('rows' in response) request?.resolve(response.rows)
      else request?.reject(toSqliteError(response))
    })
    worker.on('error', () => {})
    worker.on('exit', () => {
      if (thread === worker) thread = undefined
      for (const { reject } of pending.values())
        reject(new StorageError('the database thread has ended', { fault: 'failed' }))
      pending.clear()
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
        thread ??= start()
        last += 1
        pending.set(last, { resolve, reject })
        thread.ref()
        const request: WriterRequest = { id: last, steps, light }
        thread.postMessage(request)
      })
    },
    close: () => (closed ??= end()),
  }
}
