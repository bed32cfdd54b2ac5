import { parentPort, workerData } from 'node:worker_threads'
import { isDamage, openChainFile } from './chainFile.ts'
import type { ChainFile } from './chainFile.ts'
import { createChainReader } from './createChainReader.ts'
import type { ChainReader } from './createChainReader.ts'
import { createFileReaderRows } from './createFileRows.ts'
import { createChainWriter } from './createChainWriter.ts'
import type { ChainWriter } from './createChainWriter.ts'
import type { RedisThreadData } from './redis/openRedisFunctions.ts'

/** A thread that reads or writes a file. */
export interface FileThreadData {
  readonly file: string
  /** Above this, what was not used for longest is deleted; `undefined`: the thread only reads. */
  readonly maxBytes: number | undefined
  /** Whether a file of another version starts empty. @default true */
  readonly mayReplace?: boolean
}

/** What a thread is started with. */
export type ThreadData = FileThreadData | RedisThreadData

/** The functions of the threads. */
export type ThreadFunctions = ChainReader & ChainWriter

/** A call of a function. */
export interface ThreadCall {
  readonly name: keyof ThreadFunctions
  readonly args: readonly unknown[]
}

/** The calls of one message. */
export interface ThreadMessage {
  readonly id: number
  readonly calls: readonly ThreadCall[]
}

/** How a call ended. One that failed had no effect in a file; in Redis, it may have had a part of it. */
export type ThreadOutcome =
  | { readonly result: unknown }
  | { readonly failed: 'damaged' | 'failed'; readonly message: string }

/** The outcomes of the calls of one message, in their order; or what an operator should know. */
export type ThreadResponse =
  | { readonly id: number; readonly outcomes: readonly ThreadOutcome[] }
  | { readonly warning: string }

/** Runs the calls of messages. */
interface ThreadRunner {
  readonly run: (calls: readonly ThreadCall[]) => readonly ThreadOutcome[] | Promise<readonly ThreadOutcome[]>
  readonly close: () => void
}

/** Most bytes of the results of one message, roughly. The calls after that find nothing, except joins: their callers have counted the bytes. */
const maxResultBytes = 32 * 1024 * 1024

const callFunction = (functions: object, { name, args }: ThreadCall): unknown =>
  (functions as Record<string, (...args: readonly unknown[]) => unknown>)[name]?.(...args)

/** Runs the calls of a message in one transaction: if one fails, none has an effect. */
const createFileRunner = ({ file: path, maxBytes, mayReplace }: FileThreadData): ThreadRunner => {
  let file: ChainFile | undefined
  let functions: ChainReader | ChainWriter | undefined
  const runAll = (calls: readonly ThreadCall[]): readonly ThreadOutcome[] => {
    file ??= openChainFile(path, { readOnly: maxBytes === undefined, mayReplace })
    const own = (functions ??=
      maxBytes === undefined ? createChainReader(createFileReaderRows(file)) : createChainWriter(file, { maxBytes }))
    const { database } = file
    database.exec(maxBytes === undefined ? 'begin' : 'begin immediate')
    try {
      let bytes = 0
      const outcomes = calls.map((call): ThreadOutcome => {
        if (call.name === 'joinResults') return { result: callFunction(own, call) }
        if (bytes > maxResultBytes) return { result: undefined }
        const result = callFunction(own, call)
        bytes += getValue(result)?.length ?? 0
        return { result }
      })
      database.exec('commit')
      return outcomes
    } finally {
      if (database.isTransaction) database.exec('rollback')
    }
  }
  return {
    run: (calls) => {
      try {
        return runAll(calls)
      } catch (error) {
        const failed = isDamage(error) ? 'damaged' : 'failed'
        const message = error instanceof Error ? error.message : ''
        return calls.map(() => ({ failed, message }))
      }
    },
    close: () => file?.database.close(),
  }
}

const createRedisRunner = async (data: RedisThreadData): Promise<ThreadRunner> => {
  // Imported lazily: most services have no Redis.
  const { openRedisFunctions } = await import('./redis/openRedisFunctions.ts')
  const warn = (warning: string): void => respond({ warning })
  const { functions, close } = openRedisFunctions({ ...data, warn })
  const run = async (call: ThreadCall): Promise<ThreadOutcome> => {
    try {
      return { result: await callFunction(functions, call) }
    } catch (error) {
      return { failed: 'failed', message: error instanceof Error ? error.message : '' }
    }
  }
  return { run: (calls) => Promise.all(calls.map(run)), close }
}

const getValue = (result: unknown): Uint8Array | undefined => {
  const value = result instanceof Uint8Array ? result : (result as { value?: unknown } | undefined)?.value
  return value instanceof Uint8Array ? value : undefined
}

/** The bytes of results, which are moved and not copied. */
const getBuffers = (outcomes: readonly ThreadOutcome[]): ArrayBuffer[] => {
  const buffers = new Set<ArrayBuffer>()
  for (const outcome of outcomes) {
    const value = 'result' in outcome ? getValue(outcome.result) : undefined
    // A small buffer is a part of a pool.
    if (value !== undefined && value.byteLength === value.buffer.byteLength) buffers.add(value.buffer as ArrayBuffer)
  }
  return [...buffers]
}

const respond = (response: ThreadResponse): void =>
  parentPort?.postMessage(response, 'outcomes' in response ? getBuffers(response.outcomes) : [])

const data = workerData as ThreadData
const runner = 'file' in data ? createFileRunner(data) : await createRedisRunner(data)

const running = new Set<Promise<void>>()
const close = (): void => {
  runner.close()
  parentPort?.close()
}

parentPort?.on('message', (message: ThreadMessage | 'close') => {
  if (message === 'close') {
    if (running.size === 0) close()
    else void Promise.all(running).then(close)
    return
  }
  const { id, calls } = message
  const ran = runner.run(calls)
  if (!(ran instanceof Promise)) {
    respond({ id, outcomes: ran })
    return
  }
  const work = ran.then((outcomes) => respond({ id, outcomes })).finally(() => running.delete(work))
  running.add(work)
})
