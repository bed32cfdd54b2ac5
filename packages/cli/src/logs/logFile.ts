import { createHash } from 'node:crypto'
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  constants,
  statSync,
  writeSync,
} from 'node:fs'
import type { LogCursor } from '@keyrail/fetch'
import { CliError } from '../cliError.ts'
import { findBlockStart } from './findBlockStart.ts'
import { toFileError } from './toFileError.ts'
import { logFormats } from './logFormat.ts'
import type { LogSink } from './logSink.ts'
import { deleteCheckpoint, writeCheckpoint } from './checkpoint.ts'
import type { Checkpoint } from './checkpoint.ts'

/** A file of logs that can be gone on with after whatever ended the process. */
export interface LogFile extends LogSink {
  /** How long it is. */
  readonly bytes: () => number
  /** All is there: nothing is to be gone on with. */
  readonly finish: () => void
  /** Keeps how far it has come, and lets go of the file. Never throws: what was kept before still holds. */
  readonly leave: () => void
}

/** What an export begins with. */
export type NewExport = Pick<Checkpoint, 'settings' | 'chainId' | 'fromBlock' | 'toBlock'>

const bufferBytes = 1 << 20
const saveEveryMs = 1_000
/** Where a disk is slow, keeping how far it has come takes no more than one part in so many of the time. */
const saveShare = 20
const tailBytes = 256

const hashOf = (tail: string): string => createHash('sha256').update(tail, 'latin1').digest('hex')

/**
 * Opens a file of logs: a new one, or one that an earlier run left.
 *
 * About once a second the file is flushed to the disk, and only then is kept how far it has come, in a file beside it. Whatever ends the process,
 * the next run cuts the file to the length that was kept, and goes on from the place that belongs to it: no log is missing, none doubled.
 *
 * @param path - The file.
 * @param cursorPath - Where it is kept how far it has come.
 * @param begun - What an earlier run kept, or what a new export begins with; for a new one, what is there is lost.
 * @throws {CliError} where the file cannot be written, or is not what the earlier run left.
 */
export function openLogFile(path: string, cursorPath: string, begun: Checkpoint | NewExport): LogFile {
  const { head, line } = logFormats[begun.settings.format]
  let state: Checkpoint =
    'version' in begun
      ? begun
      : {
          version: 1,
          ...begun,
          bytes: 0,
          logs: 0,
          tail: hashOf(''),
          cursor: { nextBlock: begun.fromBlock, nextLogIndex: 0 },
        }
  const guarded = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw toFileError(path, error)
    }
  }
  guarded(() => {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) {
      throw new CliError(`${path} is no file`, { hint: 'without --out, logs go to standard output' })
    }
  })
  // Before the file is there: a process that is killed in between has left an export that can be gone on with.
  if (!('version' in begun)) guarded(() => writeCheckpoint(cursorPath, state))
  const file = guarded(() => openSync(path, constants.O_RDWR | constants.O_CREAT, 0o666))

  /** The last of the bytes that end at a place. */
  const tailAt = (bytes: number): string => {
    const tail = Buffer.alloc(Math.min(bytes, tailBytes))
    return tail.toString('latin1', 0, readSync(file, tail, 0, tail.length, bytes - tail.length))
  }

  let buffer = ''
  let { bytes, logs, cursor } = state
  let tail = ''
  let saveAt = performance.now() + saveEveryMs

  const flush = (): void => {
    const text = Buffer.from(buffer, 'latin1')
    for (let at = 0; at < text.length;) at += writeSync(file, text, at, text.length - at, bytes + at)
    bytes += text.length
    tail = `${tail}${buffer.slice(-tailBytes)}`.slice(-tailBytes)
    buffer = ''
  }
  const save = (): void => {
    const begunAt = performance.now()
    flush()
    fdatasyncSync(file)
    state = { ...state, bytes, logs, tail: hashOf(tail), cursor }
    writeCheckpoint(cursorPath, state)
    const now = performance.now()
    saveAt = now + Math.max(saveEveryMs, (now - begunAt) * saveShare)
  }

  try {
    guarded(() => {
      tail = fstatSync(file).size < bytes ? '' : tailAt(bytes)
      if (hashOf(tail) !== state.tail) {
        throw new CliError(`${path} is not what the earlier run left`, {
          hint: 'nothing was changed. Put it back, or begin the export anew with --overwrite',
        })
      }
      ftruncateSync(file, bytes)
    })
  } catch (error) {
    closeSync(file)
    throw error
  }
  if (bytes === 0) buffer = head

  return {
    bytes: () => bytes + buffer.length,
    cursor: () => cursor,
    logs: () => logs,
    take: (log, after) => {
      buffer += line(log)
      logs++
      cursor = after
      if (buffer.length >= bufferBytes) guarded(flush)
      return undefined
    },
    reach: (after: LogCursor) => {
      cursor = after
      if (performance.now() >= saveAt) guarded(save)
    },
    takeBack: (reorg) =>
      guarded(() => {
        flush()
        const kept = findBlockStart(file, bytes, Number(reorg.fromBlock))
        // Not cut before it is kept that it is shorter: a process that is killed in between finds both.
        tail = tailAt(kept.bytes)
        bytes = kept.bytes
        logs -= kept.logs
        cursor = reorg.cursor
        save()
        ftruncateSync(file, bytes)
        return kept.logs
      }),
    finish: () => {
      guarded(() => {
        flush()
        fdatasyncSync(file)
        closeSync(file)
        deleteCheckpoint(cursorPath)
      })
    },
    leave: () => {
      try {
        save()
      } catch {
        // The disk is full, or gone: what was kept a second ago still fits to the file, however long that is.
      }
      try {
        closeSync(file)
      } catch {
        // It was closed already.
      }
    },
  }
}
