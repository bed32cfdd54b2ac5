import { closeSync, existsSync, mkdirSync, openSync, readdirSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { StorageError } from '../../errors/storageError.ts'
import { otherFile, otherVersion } from './chainFile.ts'
import type { ChainReader, StoredLogs } from './createChainReader.ts'
import type { ChainFileStats } from './createChainUpkeep.ts'
import type { ChainWriter, EntryAnswer, LogAnswer } from './createChainWriter.ts'
import { createReadGuard } from './createReadGuard.ts'
import type { LogQuery } from './logQuery.ts'
import { ChainFileDamage, startChainThread } from './startChainThread.ts'
import type { ChainThread } from './startChainThread.ts'

/** Where `keyrail_cache_dropped_total` counts what was not stored: the writer was behind, the disk failed, or the answer was not one. */
export type DropReason = 'queue' | 'disk' | 'invalid'

/**
 * What can no longer change on chains, in a file that instances of one machine share. If the file fails, nothing is found in it and nothing is
 * stored: no function rejects, except where it says so.
 */
export interface ChainStore extends Pick<ChainThread<ChainWriter>, 'call'> {
  /** Whether everything is confirmed by a node of another group before it is served. */
  readonly confirm: boolean
  /** Reads what is stored of a query. @returns `undefined` if the store cannot be used for it. */
  readonly readLogs: (
    chain: string,
    query: LogQuery,
    bounds: { readonly maxBytes: number } & ReadOptions,
  ) => Promise<StoredLogs | undefined>
  /** Joins results of `eth_getLogs`: what they have of a query, whose topics they all have. @returns `different` if they cannot be of one chain, and `undefined` if they cannot be joined now. */
  readonly joinLogs: (
    results: readonly Uint8Array[],
    options?: ReadOptions & { readonly of?: LogQuery },
  ) => Promise<Uint8Array | 'different' | undefined>
  readonly readEntry: (text: string, options?: ReadOptions) => Promise<Uint8Array | undefined>
  /** Stores an answer later. Copies its bytes. @returns `undefined` if it could not be stored. */
  readonly addLogs: (answer: LogAnswer) => Promise<ReturnType<ChainWriter['addLogs']> | undefined>
  readonly addEntry: (answer: EntryAnswer) => Promise<ReturnType<ChainWriter['addEntry']> | undefined>
  readonly getDropped: () => Readonly<Record<DropReason, number>>
  /** Deletes what is stored of a chain, or of one node. @throws the error of the file */
  readonly purge: (chain: string | undefined, upstream: string | undefined) => Promise<void>
  /** @throws the error of the file */
  readonly getStats: () => Promise<ChainFileStats>
  readonly close: () => Promise<void>
}

/** Options of a read. */
interface ReadOptions {
  /** How long it may take, in milliseconds. @default 1000, which is also the most */
  readonly waitMs?: number
}

/** Options of a chain store. */
export interface ChainStoreOptions {
  /** The path of the file. It is created if it does not exist. */
  readonly file: string
  readonly maxBytes: number
  /** Whether everything is confirmed by a node of another group before it is served. @default false */
  readonly confirm?: boolean | undefined
  /** Whether the file may be created, and a new one if it is damaged or of another version. @default true */
  readonly mayReplace?: boolean
  /** Called with what an operator should know. */
  readonly warn: (what: string) => void
}

/** A reader that takes longer would delay a call: it is sent to a node. */
const patienceMs = 1_000
/** Most reads that wait for the reader. */
const maxPendingReads = 1_000
/** Most bytes that wait to be written. */
const maxQueuedBytes = 64 * 1024 * 1024
/** What an address of an answer takes, roughly. */
const addressBytes = 100
/** After a failure of the disk, nothing is written for this long. */
const diskPauseMs = 60_000
const upkeepMs = 5_000

/** A damaged file is left as it is, because other instances may have it open, and the next one has a number after its name. */
const toGeneration = (file: string, generation: number): string => (generation === 1 ? file : `${file}.${generation}`)

const getLastGeneration = (file: string): number => {
  const folder = dirname(file)
  const start = `${basename(file)}.`
  const names = existsSync(folder) ? readdirSync(folder) : []
  const generations = names.flatMap((name) => (name.startsWith(start) ? Number(name.slice(start.length)) : []))
  return Math.max(1, ...generations.filter(Number.isInteger))
}

/** Gets the path that a store with this path uses: another one if that file was damaged. */
export const getLastFile = (file: string): string => toGeneration(file, getLastGeneration(file))

const createPrivately = (file: string): void => {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    closeSync(openSync(file, 'a', 0o600))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
    throw new StorageError(
      `the file ${file} of the chain store cannot be opened or created: set cache.file to a path that the service can write`,
      {
        fault: 'unavailable',
        code,
      },
    )
  }
}

/** The writer, and the file that it has open. */
interface OpenWriter {
  readonly path: string
  readonly generation: number
  readonly writer: ChainThread<ChainWriter>
}

/** Starts the writer, which creates the tables. Starts with an empty file if that one is damaged and may be replaced. */
const openWriter = async (options: ChainStoreOptions, generation: number): Promise<OpenWriter> => {
  const { file, maxBytes, mayReplace = true, warn } = options
  const path = toGeneration(file, generation)
  if (mayReplace) createPrivately(path)
  const writer = startChainThread<ChainWriter>({ file: path, maxBytes, mayReplace })
  try {
    await writer.call('getCheckpoint', '')
    return { path, generation, writer }
  } catch (error) {
    await writer.close()
    if (error instanceof Error && error.message === otherFile)
      throw new StorageError(
        `the file ${path} is a database, but not of a chain store: set cache.file to a path that nothing else uses`,
        { fault: 'unavailable' },
      )
    if (error instanceof Error && error.message === otherVersion)
      throw new StorageError(
        `the file ${path} of the chain store is of another version of Keyrail: use the version that the service has`,
        { fault: 'failed' },
      )
    const isDamaged = error instanceof ChainFileDamage
    if (!isDamaged || !mayReplace)
      throw new StorageError(
        isDamaged
          ? `the file ${path} of the chain store is damaged: restart the service, which then uses a new one`
          : `the file ${path} of the chain store cannot be used: check its permissions and the disk, or delete it`,
        { fault: 'failed' },
      )
    const next = toGeneration(file, generation + 1)
    warn(
      `The chain store ${path} is damaged. The new one ${next} starts empty. Delete the damaged file if you do not need it.`,
    )
    return openWriter(options, generation + 1)
  }
}

/**
 * Opens the chain store.
 * @throws {StorageError} if the file cannot be created or read.
 */
export const openChainStore = async (given: ChainStoreOptions): Promise<ChainStore> => {
  const { warn } = given
  const file = resolve(given.file)
  const { path, generation, writer } = await openWriter({ ...given, file }, getLastGeneration(file))
  const reader = startChainThread<ChainReader>({ file: path, maxBytes: undefined })
  const dropped: Record<DropReason, number> = { queue: 0, disk: 0, invalid: 0 }
  let isOn = true
  let queuedBytes = 0
  let pausedUntil = 0
  let hasWritten = false
  let hasRead = false

  const turnOff = (what: string): void => {
    isOn = false
    warn(`The chain store ${path} is off until the service is restarted: ${what}.`)
  }
  void Promise.race([reader.ended, writer.ended]).then(() => isOn && turnOff('one of its threads has ended'))
  const onError = (error: unknown): void => {
    if (!(error instanceof ChainFileDamage) || !isOn) return
    turnOff('the file is damaged, and the next start uses an empty one')
    try {
      if (given.mayReplace !== false) createPrivately(toGeneration(file, generation + 1))
    } catch {
      // The next start finds the damage itself, or this one does again.
    }
  }
  const guard = createReadGuard({ patienceMs, maxPending: maxPendingReads, onError })
  const read = async <Result>(work: () => Promise<Result>, waitMs?: number): Promise<Result | undefined> => {
    if (!isOn) return undefined
    hasRead = true
    return guard(work, waitMs)
  }
  const write = async <Result>(bytes: number, work: () => Promise<Result>): Promise<Result | undefined> => {
    if (!isOn || performance.now() < pausedUntil || queuedBytes + bytes > maxQueuedBytes) {
      dropped[isOn && performance.now() >= pausedUntil ? 'queue' : 'disk'] += 1
      return undefined
    }
    queuedBytes += bytes
    hasWritten ||= bytes > 0
    try {
      const result = await work()
      if (result === 'invalid') dropped.invalid += 1
      return result
    } catch (error) {
      dropped.disk += 1
      pausedUntil = performance.now() + diskPauseMs
      onError(error)
      return undefined
    } finally {
      queuedBytes -= bytes
    }
  }
  const keepUp = async (): Promise<void> => {
    const rows = hasRead ? await read(() => reader.call('takeRows')) : undefined
    hasRead = false
    if (rows !== undefined && rows.damaged.length + rows.used.length > 0)
      await write(0, () => writer.call('noteRows', rows))
    let isFull = hasWritten
    hasWritten = false
    while (isFull && isOn) {
      isFull = false
      await write(0, async () => void (isFull = (await writer.call('evict')) > 0))
    }
  }
  // Otherwise, the first calls would go to nodes while the thread starts.
  await reader.call('takeRows').catch(onError)
  const timer = setInterval(() => void keepUp(), upkeepMs).unref()

  return {
    confirm: given.confirm ?? false,
    call: async (name, ...args) => {
      try {
        return await writer.call(name, ...args)
      } catch (error) {
        onError(error)
        throw error
      }
    },
    readLogs: (chain, query, { maxBytes, waitMs }) =>
      read(() => reader.call('readLogs', chain, query, maxBytes), waitMs),
    joinLogs: (results, { waitMs, of } = {}) => read(() => reader.call('joinResults', results, of), waitMs),
    readEntry: (text, { waitMs } = {}) => read(() => reader.call('readEntry', text), waitMs),
    addLogs: (answer) =>
      write(answer.result.length + answer.query.addresses.length * addressBytes, () => writer.call('addLogs', answer)),
    addEntry: (answer) =>
      write(answer.value.length + (answer.call?.params.length ?? 0), () => writer.call('addEntry', answer)),
    getDropped: () => ({ ...dropped }),
    purge: async (chain, upstream) => {
      while ((await writer.call('purge', chain, upstream)) > 0);
    },
    getStats: () => writer.call('getStats'),
    close: async () => {
      isOn = false
      clearInterval(timer)
      await reader.close()
      // The last connection moves what is in the log of the file into it.
      await writer.close()
    },
  }
}
