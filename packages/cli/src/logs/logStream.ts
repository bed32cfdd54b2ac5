import type { LogCursor } from '@keyrail/fetch'
import { CliError } from '../cliError.ts'
import type { LogFormat } from './logFormat.ts'
import type { LogSink } from './logSink.ts'

/** A stream that logs go to: what is written cannot be taken back. */
export interface LogStream extends LogSink {
  /** Writes what is whole. */
  readonly end: () => Promise<void>
}

/** Thrown where whoever reads went away (`keyrail logs | head`), which is no failure. */
export const readerClosed: Error = new CliError('nobody reads any more')

const bufferBytes = 1 << 16

/**
 * Opens a stream for logs. Blocks are written whole or not at all, so that an export that was ended can be gone on with from the next block.
 *
 * @param stream - Standard output, say.
 * @param format - How logs are written.
 * @param fromBlock - The first block.
 */
export function openLogStream(stream: NodeJS.WritableStream, format: LogFormat, fromBlock: number): LogStream {
  let ready = format.head
  /** The lines of the block that is not whole yet. */
  let held = ''
  let heldBlock = -1
  let cursor: LogCursor = { nextBlock: fromBlock, nextLogIndex: 0 }
  let logs = 0
  let writing: Promise<void> | undefined
  let gone = false
  stream.on('error', () => (gone = true))

  const write = (): void => {
    const text = ready
    if (text === '') return
    ready = ''
    const written = (writing ?? Promise.resolve()).then(async () => {
      if (gone) throw readerClosed
      await new Promise<void>((resolve, reject) => {
        stream.write(text, 'latin1', (error) => (error ? reject(readerClosed) : resolve()))
      })
      if (writing === written) writing = undefined
    })
    // It is waited for by the next log, or at the end.
    written.catch(() => undefined)
    writing = written
  }
  const whole = (): void => {
    ready += held
    held = ''
  }

  return {
    cursor: () => cursor,
    logs: () => logs,
    take: (log, after) => {
      const block = Number(log.blockNumber)
      if (block !== heldBlock) whole()
      heldBlock = block
      held += format.line(log)
      logs++
      cursor = after
      if (ready.length >= bufferBytes) write()
      return writing
    },
    reach: (after) => {
      cursor = after
      if (after.nextLogIndex > 0) return
      whole()
      write()
    },
    takeBack: (reorg) => {
      const block = Number(reorg.fromBlock)
      throw new CliError(`the chain was reorganized at or above block ${block}`, {
        hint: `drop the lines of block ${block} and of those above it, and go on with --from ${block}`,
      })
    },
    end: async () => {
      write()
      await writing
    },
  }
}
