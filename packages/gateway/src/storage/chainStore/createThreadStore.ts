import type { ChainStore, DropReason } from './chainStore.ts'
import type { ChainReader } from './createChainReader.ts'
import type { ChainWriter } from './createChainWriter.ts'
import { createReadGuard } from './createReadGuard.ts'
import type { ChainThread } from './startChainThread.ts'

/** A reader that takes longer would delay a call: it is sent to a node. */
const patienceMs = 1_000
/** Most reads that wait for the reader. */
const maxPendingReads = 1_000
/** Most bytes that wait to be written. */
const maxQueuedBytes = 64 * 1024 * 1024
/** What an address of an answer takes, roughly. */
const addressBytes = 100

/** What a store is made of. */
export interface ThreadStoreOptions {
  readonly reader: ChainThread<ChainReader>
  readonly writer: ChainThread<ChainWriter>
  readonly confirm: boolean
  /** What fails if a write fails. */
  readonly failure: 'disk' | 'redis'
  /** After a failed write, nothing is written for this long, in milliseconds. */
  readonly pauseMs: number
  readonly onError: (error: unknown) => void
}

/** A store, and what its owner needs. */
export interface ThreadStore extends Omit<ChainStore, 'close'> {
  /** Reads and writes nothing more. */
  readonly stop: () => void
  readonly isOn: () => boolean
  /** How often it was read and written. */
  readonly getUses: () => { readonly reads: number; readonly writes: number }
  /** Runs a read of the store's own. */
  readonly read: <Result>(work: () => Promise<Result>, waitMs?: number) => Promise<Result | undefined>
  /** Runs a write of the store's own. @param bytes - How many it holds until then. */
  readonly write: <Result>(bytes: number, work: () => Promise<Result>) => Promise<Result | undefined>
}

/** Creates a store from the threads that read and write it. Its owner closes them. */
export const createThreadStore = (options: ThreadStoreOptions): ThreadStore => {
  const { reader, writer, confirm, failure, pauseMs, onError } = options
  const dropped: Partial<Record<DropReason, number>> = { queue: 0, [failure]: 0, invalid: 0 }
  const drop = (reason: DropReason): void => void (dropped[reason] = (dropped[reason] ?? 0) + 1)
  let isOn = true
  let queuedBytes = 0
  let pausedUntil = 0
  const guard = createReadGuard({ patienceMs, maxPending: maxPendingReads, onError })
  let reads = 0
  let writes = 0
  const read: ThreadStore['read'] = async (work, waitMs) => (isOn ? guard(work, waitMs) : undefined)
  const readStored: ThreadStore['read'] = (work, waitMs) => {
    reads += 1
    return read(work, waitMs)
  }
  const write: ThreadStore['write'] = async (bytes, work) => {
    if (!isOn || performance.now() < pausedUntil || queuedBytes + bytes > maxQueuedBytes) {
      drop(isOn && performance.now() >= pausedUntil ? 'queue' : failure)
      return undefined
    }
    queuedBytes += bytes
    if (bytes > 0) writes += 1
    try {
      const result = await work()
      if (result === 'invalid') drop('invalid')
      return result
    } catch (error) {
      drop(failure)
      pausedUntil = performance.now() + pauseMs
      onError(error)
      return undefined
    } finally {
      queuedBytes -= bytes
    }
  }
  return {
    confirm,
    call: async (name, ...args) => {
      try {
        return await writer.call(name, ...args)
      } catch (error) {
        onError(error)
        throw error
      }
    },
    readLogs: (chain, query, { maxBytes, waitMs }) =>
      readStored(() => reader.call('readLogs', chain, query, maxBytes), waitMs),
    joinLogs: (results, { waitMs, of } = {}) => read(() => reader.call('joinResults', results, of), waitMs),
    readEntry: (text, { waitMs } = {}) => readStored(() => reader.call('readEntry', text), waitMs),
    addLogs: (answer) =>
      write(answer.result.length + answer.query.addresses.length * addressBytes, () => writer.call('addLogs', answer)),
    addEntry: (answer) =>
      write(answer.value.length + (answer.call?.params.length ?? 0), () => writer.call('addEntry', answer)),
    getDropped: () => ({ ...dropped }),
    purge: async (chain, upstream) => {
      while ((await writer.call('purge', chain, upstream)) > 0);
    },
    getStats: () => writer.call('getStats'),
    stop: () => void (isOn = false),
    isOn: () => isOn,
    getUses: () => ({ reads, writes }),
    read,
    write,
  }
}
