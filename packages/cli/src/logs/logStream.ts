import type { LogCursor } from '@keyrail/fetch'
import { CliError } from '../cliError.ts'
import type { LogFormat } from './logFormat.ts'
import type { LogSink } from './logSink.ts'

/** A stream of logs. Unlike a file, it cannot be rolled back. */
export interface LogStream extends LogSink {
  /** Writes the remaining complete blocks. */
  readonly end: () => Promise<void>
}

/** Thrown when the reader closes the stream (`keyrail logs | head`), which is not a failure. */
export const readerClosed: Error = new CliError('the reader closed the stream')

const bufferBytes = 1 << 16

/**
 * Opens a stream for logs. It writes complete blocks only, so that an interrupted export can be resumed at the next block.
 *
 * @param stream - The stream, for example standard output.
 * @param format - The format of the logs.
 * @param fromBlock - The first block.
 */
export function openLogStream(stream: NodeJS.WritableStream, format: LogFormat, fromBlock: number): LogStream {
  let ready = format.header
  /** The lines of the current block, which may be incomplete. */
  let pending = ''
  let pendingBlock = -1
  let cursor: LogCursor = { nextBlock: fromBlock, nextLogIndex: 0 }
  let logs = 0
  let writing: Promise<void> | undefined
  let closed = false
  stream.on('error', () => (closed = true))

  const flush = (): void => {
    const text = ready
    if (text === '') return
    ready = ''
    const written = (writing ?? Promise.resolve()).then(async () => {
      if (closed) throw readerClosed
      await new Promise<void>((resolve, reject) => {
        stream.write(text, 'latin1', (error) => (error ? reject(readerClosed) : resolve()))
      })
      if (writing === written) writing = undefined
    })
    // The next `write` or `end` returns this promise.
    written.catch(() => undefined)
    writing = written
  }
  const completeBlock = (): void => {
    ready += pending
    pending = ''
  }

  return {
    cursor: () => cursor,
    logs: () => logs,
    write: (log, after) => {
      const block = Number(log.blockNumber)
      if (block !== pendingBlock) completeBlock()
      pendingBlock = block
      pending += format.line(log)
      logs++
      cursor = after
      if (ready.length >= bufferBytes) flush()
      return writing
    },
    advance: (after) => {
      cursor = after
      if (after.nextLogIndex > 0) return
      completeBlock()
      flush()
    },
    rollBack: (reorg) => {
      const block = Number(reorg.fromBlock)
      throw new CliError(`a reorg replaced logs at or above block ${block}, which are already written`, {
        hint: `delete the lines from block ${block} on, and resume with --from ${block}`,
      })
    },
    end: async () => {
      flush()
      await writing
    },
  }
}
