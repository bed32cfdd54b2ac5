import { closeSync, existsSync, mkdirSync, openSync, readdirSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { StorageError } from '../../errors/storageError.ts'
import { otherFile, otherVersion } from './chainFile.ts'
import type { ChainReader } from './createChainReader.ts'
import type { ChainWriter } from './createChainWriter.ts'
import { createThreadStore } from './createThreadStore.ts'
import type { ChainStore } from './chainStore.ts'
import { ChainFileDamage, startChainThread } from './startChainThread.ts'
import type { ChainThread } from './startChainThread.ts'

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
  const { warn, confirm = false } = given
  const file = resolve(given.file)
  const { path, generation, writer } = await openWriter({ ...given, file }, getLastGeneration(file))
  const reader = startChainThread<ChainReader>({ file: path, maxBytes: undefined })
  const onError = (error: unknown): void => {
    if (!(error instanceof ChainFileDamage) || !isOn()) return
    turnOff('the file is damaged, and the next start uses an empty one')
    try {
      if (given.mayReplace !== false) createPrivately(toGeneration(file, generation + 1))
    } catch {
      // The next start finds the damage itself, or this one does again.
    }
  }
  const { stop, isOn, read, write, getUses, ...store } = createThreadStore({
    reader,
    writer,
    confirm,
    failure: 'disk',
    pauseMs: diskPauseMs,
    onError,
  })
  const turnOff = (what: string): void => {
    stop()
    warn(`The chain store ${path} is off until the service is restarted: ${what}.`)
  }
  void Promise.race([reader.ended, writer.ended]).then(() => isOn() && turnOff('one of its threads has ended'))
  let seen = getUses()
  const keepUp = async (): Promise<void> => {
    const uses = getUses()
    const [hasRead, hasWritten] = [uses.reads > seen.reads, uses.writes > seen.writes]
    seen = uses
    const rows = hasRead ? await read(() => reader.call('takeRows')) : undefined
    if (rows !== undefined && rows.damaged.length + rows.used.length > 0)
      await write(0, () => writer.call('noteRows', rows))
    let isFull = hasWritten
    while (isFull && isOn()) {
      isFull = false
      await write(0, async () => void (isFull = (await writer.call('evict')) > 0))
    }
  }
  // Otherwise, the first calls would go to nodes while the thread starts.
  await reader.call('takeRows').catch(onError)
  const timer = setInterval(() => void keepUp(), upkeepMs).unref()
  return {
    ...store,
    close: async () => {
      stop()
      clearInterval(timer)
      await reader.close()
      // The last connection moves what is in the log of the file into it.
      await writer.close()
    },
  }
}
