import { parentPort, workerData } from 'node:worker_threads'
import { isDamage, openChainFile } from './chainFile.ts'
import type { ChainFile } from './chainFile.ts'
import { createChainReader } from './createChainReader.ts'
import type { ChainReader } from './createChainReader.ts'
import { createFileReaderRows } from './createFileRows.ts'
import { createChainWriter } from './createChainWriter.ts'
import type { ChainWriter } from './createChainWriter.ts'

/** What a thread is started with. */
export interface ThreadData {
  readonly file: string
  /** Above this, what was not used for longest is deleted; `undefined`: the thread only reads. */
  readonly maxBytes: number | undefined
  /** Whether a file of another version starts empty. @default true */
  readonly mayReplace?: boolean
}

/** The functions of the threads. */
export type ThreadFunctions = ChainReader & ChainWriter

/** A call of a function. */
export interface ThreadCall {
  readonly name: keyof ThreadFunctions
  readonly args: readonly unknown[]
}

/** The results of the calls of one message, in their order; or that they failed, and had no effect. */
export type ThreadResponse =
  | { readonly results: readonly unknown[] }
  | { readonly failed: 'damaged' | 'failed'; readonly message: string }

const { file: path, maxBytes, mayReplace } = workerData as ThreadData
let file: ChainFile | undefined
let functions: ChainReader | ChainWriter | undefined

const open = (): ChainFile['database'] => {
  file ??= openChainFile(path, { readOnly: maxBytes === undefined, mayReplace })
  functions ??= maxBytes === undefined ? createChainReader(createFileReaderRows(file)) : createChainWriter(file, { maxBytes })
  return file.database
}

/** Most bytes of the results of one message, roughly. The calls after that find nothing, except joins: their callers have counted the bytes. */
const maxResultBytes = 32 * 1024 * 1024

const callFunction = ({ name, args }: ThreadCall): unknown =>
  (functions as unknown as Record<string, (...args: readonly unknown[]) => unknown>)[name]?.(...args)

const run = (calls: readonly ThreadCall[]): ThreadResponse => {
  try {
    const database = open()
    database.exec(maxBytes === undefined ? 'begin' : 'begin immediate')
    try {
      let bytes = 0
      const results = calls.map((call) => {
        if (call.name === 'joinResults') return callFunction(call)
        if (bytes > maxResultBytes) return undefined
        const result = callFunction(call)
        bytes += getValue(result)?.length ?? 0
        return result
      })
      database.exec('commit')
      return { results }
    } finally {
      if (database.isTransaction) database.exec('rollback')
    }
  } catch (error) {
    return { failed: isDamage(error) ? 'damaged' : 'failed', message: error instanceof Error ? error.message : '' }
  }
}

const getValue = (result: unknown): Uint8Array | undefined => {
  const value = result instanceof Uint8Array ? result : (result as { value?: unknown } | undefined)?.value
  return value instanceof Uint8Array ? value : undefined
}

/** The bytes of results, which are moved and not copied. */
const getBuffers = (response: ThreadResponse): ArrayBuffer[] => {
  const buffers = new Set<ArrayBuffer>()
  for (const result of 'results' in response ? response.results : []) {
    const value = getValue(result)
    // A small buffer is a part of a pool.
    if (value !== undefined && value.byteLength === value.buffer.byteLength) buffers.add(value.buffer as ArrayBuffer)
  }
  return [...buffers]
}

parentPort?.on('message', (calls: readonly ThreadCall[] | 'close') => {
  if (calls === 'close') {
    file?.database.close()
    parentPort?.close()
    return
  }
  const response = run(calls)
  parentPort?.postMessage(response, getBuffers(response))
})
