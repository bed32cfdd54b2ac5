import { readSync } from 'node:fs'
import { parseBlockNumber } from './logFormat.ts'

const chunkBytes = 1 << 20

/**
 * Finds where the logs of a block and of those above it begin in a file of logs, from its end.
 *
 * @param file - An open file.
 * @param bytes - How many bytes of it count.
 * @param block - The first block that is not wanted.
 * @returns How many bytes stand before those logs, and how many logs they are.
 */
export function findBlockStart(
  file: number,
  bytes: number,
  block: number,
): { readonly bytes: number; readonly logs: number } {
  const chunk = Buffer.alloc(chunkBytes)
  let logs = 0
  let end = bytes
  /** Where a line begins in the chunk before: its end. */
  let rest = ''
  // Without the last line's own end, so that ends stand only between lines.
  for (let at = bytes - 1; at > 0;) {
    const size = Math.min(at, chunkBytes)
    at -= size
    const read = readSync(file, chunk, 0, size, at)
    const lines = `${chunk.toString('latin1', 0, read)}${rest}`.split('\n')
    if (at > 0) rest = lines.shift() as string
    for (const line of lines.toReversed()) {
      const number = parseBlockNumber(line)
      if (number === undefined || number < block) return { bytes: end, logs }
      end -= line.length + 1
      logs++
    }
  }
  return { bytes: end, logs }
}
