import { readSync } from 'node:fs'
import { parseBlockNumber } from './logFormat.ts'

const chunkBytes = 1 << 20

/**
 * Scans a log file backwards for the first log of a block or of any block above it.
 *
 * @param file - An open file.
 * @param size - How many bytes of it to scan.
 * @param block - The block number.
 * @returns The offset of that log in bytes, and the number of logs from there on.
 */
export function findBlockStart(
  file: number,
  size: number,
  block: number,
): { readonly offset: number; readonly logs: number } {
  const chunk = Buffer.alloc(chunkBytes)
  let logs = 0
  let offset = size
  /** The end of a line that starts in the previous chunk. */
  let rest = ''
  // The last line's own terminator is not scanned, so that terminators only occur between lines.
  for (let at = size - 1; at > 0;) {
    const length = Math.min(at, chunkBytes)
    at -= length
    const read = readSync(file, chunk, 0, length, at)
    const lines = `${chunk.toString('latin1', 0, read)}${rest}`.split('\n')
    if (at > 0) rest = lines.shift() as string
    for (const line of lines.toReversed()) {
      const number = parseBlockNumber(line)
      if (number === undefined || number < block) return { offset, logs }
      offset -= line.length + 1
      logs++
    }
  }
  return { offset, logs }
}
