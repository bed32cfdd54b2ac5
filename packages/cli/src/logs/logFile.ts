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
import { deleteCheckpoint, writeCheckpoint } from './checkpoint.ts'
import type { Checkpoint } from './checkpoint.ts'
import { findBlockStart } from './findBlockStart.ts'
import { getLogFormat } from './decodedFormat.ts'
import type { LogSink } from './logSink.ts'
import { toFileError } from './toFileError.ts'

/** A log file that can be resumed, even after a crash. */
export interface LogFile extends LogSink {
  /** Its size. */
  readonly bytes: () => number
  /** Completes the export: closes the file and deletes the checkpoint. */
  readonly finish: () => void
  /** Writes a checkpoint and closes the file. Never throws: if the checkpoint cannot be written, the previous one remains valid. */
  readonly close: () => void
}

/** The initial state of a new export. */
export type NewExport = Pick<Checkpoint, 'settings' | 'chainId' | 'fromBlock' | 'toBlock'>

const bufferBytes = 1 << 20
const checkpointEveryMs = 1_000
/** On a slow disk, checkpoints take at most 1/20 of the time. */
const checkpointShare = 20
const tailBytes = 256

const hashTail = (tail: string): string => createHash('sha256').update(tail, 'latin1').digest('hex')

/**
 * Opens a log file: a new one, or one from an earlier run.
 *
 * About once a second it flushes the file to disk, then writes a checkpoint beside it. After any crash, the next run truncates the file to the
 * length in the checkpoint and resumes at its cursor, so that no log is missing or duplicated.
 *
 * @param path - The file.
 * @param checkpointPath - The checkpoint file.
 * @param start - The checkpoint of the earlier run, or the state of a new export, which overwrites an existing file.
 * @throws {CliError} if the file cannot be written, or was modified since the earlier run.
 */
export function openLogFile(path: string, checkpointPath: string, start: Checkpoint | NewExport): LogFile {
  const { header, line } = getLogFormat(start.settings)
  let checkpoint: Checkpoint =
    'version' in start
      ? start
      : {
          version: 1,
          ...start,
          bytes: 0,
          logs: 0,
          tail: hashTail(''),
          cursor: { nextBlock: start.fromBlock, nextLogIndex: 0 },
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
      throw new CliError(`${path} is not a file`, { hint: 'omit --out to write to standard output' })
    }
  })
  // Before the file exists, so that a process killed in between leaves an export that can be resumed.
  if (!('version' in start)) guarded(() => writeCheckpoint(checkpointPath, checkpoint))
  const file = guarded(() => openSync(path, constants.O_RDWR | constants.O_CREAT, 0o666))

  /** Reads the last bytes before an offset. */
  const readTail = (end: number): string => {
    const tail = Buffer.alloc(Math.min(end, tailBytes))
    return tail.toString('latin1', 0, readSync(file, tail, 0, tail.length, end - tail.length))
  }

  let buffer = ''
  let { bytes, logs, cursor } = checkpoint
  let tail = ''
  let nextCheckpointAt = performance.now() + checkpointEveryMs

  const flush = (): void => {
    const text = Buffer.from(buffer, 'latin1')
    for (let at = 0; at < text.length;) at += writeSync(file, text, at, text.length - at, bytes + at)
    bytes += text.length
    tail = `${tail}${buffer.slice(-tailBytes)}`.slice(-tailBytes)
    buffer = ''
  }
  const save = (): void => {
    const startedAt = performance.now()
    flush()
    fdatasyncSync(file)
    checkpoint = { ...checkpoint, bytes, logs, tail: hashTail(tail), cursor }
    writeCheckpoint(checkpointPath, checkpoint)
    const now = performance.now()
    nextCheckpointAt = now + Math.max(checkpointEveryMs, (now - startedAt) * checkpointShare)
  }

  try {
    guarded(() => {
      tail = fstatSync(file).size < bytes ? '' : readTail(bytes)
      if (hashTail(tail) !== checkpoint.tail) {
        throw new CliError(`${path} was modified since the earlier run`, {
          hint: 'nothing was changed; restore the file, or use --overwrite to start over',
        })
      }
      ftruncateSync(file, bytes)
    })
  } catch (error) {
    closeSync(file)
    throw error
  }
  if (bytes === 0) buffer = header

  return {
    bytes: () => bytes + buffer.length,
    cursor: () => cursor,
    logs: () => logs,
    write: (log, after) => {
      buffer += line(log)
      logs++
      cursor = after
      if (buffer.length >= bufferBytes) guarded(flush)
      return undefined
    },
    advance: (after: LogCursor) => {
      cursor = after
      if (performance.now() >= nextCheckpointAt) guarded(save)
    },
    rollBack: (reorg) =>
      guarded(() => {
        flush()
        const removed = findBlockStart(file, bytes, Number(reorg.fromBlock))
        // The checkpoint comes first: a process killed before the truncation leaves a file that is longer than it, which is valid.
        tail = readTail(removed.offset)
        bytes = removed.offset
        logs -= removed.logs
        cursor = reorg.cursor
        save()
        ftruncateSync(file, bytes)
        return removed.logs
      }),
    finish: () => {
      guarded(() => {
        flush()
        fdatasyncSync(file)
        closeSync(file)
        deleteCheckpoint(checkpointPath)
      })
    },
    close: () => {
      try {
        save()
      } catch {
        // The disk is full or gone. The previous checkpoint remains valid for a longer file.
      }
      try {
        closeSync(file)
      } catch {
        // Already closed.
      }
    },
  }
}
