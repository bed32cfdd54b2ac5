import type { Readable } from 'node:stream'
import type { LogStream } from '../serviceLog.ts'

/**
 * Relays whole lines of a worker's output: processes that write to one pipe at the same time would mix parts of long lines.
 * @param write - Receives one or more lines.
 */
export const relayLines = (output: Readable, write: (lines: string) => void): void => {
  let rest = ''
  output.setEncoding('utf8')
  output.on('data', (text: string) => {
    const end = text.lastIndexOf('\n') + 1
    if (end > 0) write(rest + text.slice(0, end))
    rest = end > 0 ? text.slice(end) : rest + text
  })
  output.on('end', () => {
    if (rest !== '') write(`${rest}\n`)
  })
}

/** Lines are dropped while the stream's buffer has this many bytes or more. */
const maxBufferedBytes = 4 * 1024 * 1024

/**
 * Creates the output of all workers. If the reader of a stream is slow, it drops lines instead of buffering them without bound.
 * @param onDropped - Called with how many lines were dropped, once the reader has caught up.
 */
export const createRelay = (
  output: ((lines: string) => void) | LogStream,
  onDropped: (lines: number) => void,
): ((lines: string) => void) => {
  if (typeof output === 'function') return output
  let dropped = 0
  return (lines) => {
    if (output.writableLength >= maxBufferedBytes) {
      dropped += lines.split('\n').length - 1
      return
    }
    if (dropped > 0) onDropped(dropped)
    dropped = 0
    output.write(lines)
  }
}
