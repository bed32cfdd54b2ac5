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
import { gzipSync } from 'node:zlib'
import type { LogCursor, ReorgError } from '@keyrail/fetch'
import { CliError } from '../cliError.ts'
import { deleteCheckpoint, writeCheckpoint } from './checkpoint.ts'
import type { Checkpoint } from './checkpoint.ts'
import { findBlockStart } from './findBlockStart.ts'
import { isGzip, maxMembers, rollBackMembers } from './gzipMembers.ts'
import type { GzipMember } from './gzipMembers.ts'
import { getLogFormat } from './decodedFormat.ts'
import type { LogSink } from './logSink.ts'
import { toFileError } from './toFileError.ts'

/** A log file that can be resumed, even after a crash. */
export interface LogFile extends LogSink {
  /** Its size. */
  readonly bytes: () => number
  /** Writes the rest and a checkpoint to disk. @throws {CliError} if that fails. */
  readonly save: () => void
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

/** Checks that a path is not a folder or a device. @throws {CliError} if it is. */
export function checkIsFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) {
    throw new CliError(`${path} is not a file`, { hint: 'omit --out to write to standard output' })
  }
}

/**
 * Opens a log file: a new one, or one from an earlier run. It is compressed with gzip if its name ends with `.gz`.
 *
 * About once a second it flushes the file to disk, then writes a checkpoint beside it. After any crash, the next run truncates the file to the
 * length in the checkpoint and resumes at its cursor, so that no log is missing or duplicated.
 *
 * @param path - The file.
 * @param checkpointPath - The checkpoint file.
 * @param given - The checkpoint of the earlier run, or the state of a new export, which overwrites an existing file.
 * @throws {CliError} if the file cannot be written, or was modified since the earlier run.
 */
export function openLogFile(path: string, checkpointPath: string, given: Checkpoint | NewExport): LogFile {
  const { header, line } = getLogFormat(given.settings)
  const compressed = isGzip(path)
  let checkpoint: Checkpoint =
    'version' in given
      ? given
      : {
          version: 1,
          ...given,
          bytes: 0,
          logs: 0,
          tail: hashTail(''),
          cursor: { nextBlock: given.fromBlock, nextLogIndex: 0 },
        }
  const guarded = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw toFileError(path, error)
    }
  }
  guarded(() => checkIsFile(path))
  // Before the file exists, so that a process killed in between leaves an export that can be resumed.
  if (!('version' in given)) guarded(() => writeCheckpoint(checkpointPath, checkpoint))
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

  /** The members of a compressed file, and where the next one starts. */
  let members = [...(checkpoint.members ?? [])]
  let start: GzipMember = { offset: bytes, logs, cursor }

  const append = (text: string): void => {
    const plain = Buffer.from(text, 'latin1')
    const encoded = compressed ? gzipSync(plain) : plain
    for (let at = 0; at < encoded.length;) at += writeSync(file, encoded, at, encoded.length - at, bytes + at)
    bytes += encoded.length
    tail = `${tail}${encoded.toString('latin1', Math.max(0, encoded.length - tailBytes))}`.slice(-tailBytes)
    if (compressed) members = [...members, start].slice(-maxMembers)
  }
  const flush = (): void => {
    if (buffer !== '') append(buffer)
    buffer = ''
    start = { offset: bytes, logs, cursor }
  }
  const save = (): void => {
    const startedAt = performance.now()
    flush()
    fdatasyncSync(file)
    checkpoint = { ...checkpoint, bytes, logs, tail: hashTail(tail), cursor, ...(compressed && { members }) }
    writeCheckpoint(checkpointPath, checkpoint)
    const now = performance.now()
    nextCheckpointAt = now + Math.max(checkpointEveryMs, (now - startedAt) * checkpointShare)
  }

  const rollBackCompressed = (reorg: ReorgError['reorg']): number => {
    const read = (from: number, to: number): Buffer => {
      const part = Buffer.alloc(to - from)
      readSync(file, part, 0, part.length, from)
      return part
    }
    const { cut, rest, removed } = rollBackMembers(members, start, read, Number(reorg.fromBlock))
    const left = logs - removed
    // As for a plain file, the checkpoint comes first. It is at the cut: a process killed before the rest is written reads it again.
    members = members.filter(({ offset }) => offset < cut.offset)
    tail = readTail(cut.offset)
    bytes = cut.offset
    logs = cut.logs
    cursor = rest === '' ? reorg.cursor : cut.cursor
    save()
    ftruncateSync(file, bytes)
    buffer = rest
    logs = left
    cursor = reorg.cursor
    return removed
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
        if (compressed) return rollBackCompressed(reorg)
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
    save: () => guarded(save),
    finish: () => {
      guarded(() => {
        flush()
        // A compressed file has at least one member.
        if (compressed && bytes === 0) append('')
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
