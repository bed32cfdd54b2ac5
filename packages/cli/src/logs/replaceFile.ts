import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'

/** The file that {@link replaceFile} writes first. A killed process may leave it. */
export const getTemporaryFile = (file: string): string => `${file}.new`

/**
 * Replaces a file atomically, so that a crash leaves the old content or the new one.
 *
 * @param file - The file. It may not exist yet.
 * @param text - Its new content.
 * @throws The system error if it cannot be written.
 */
export function replaceFile(file: string, text: string): void {
  const temporary = getTemporaryFile(file)
  const open = openSync(temporary, 'w')
  try {
    writeSync(open, text)
    fsyncSync(open)
  } finally {
    closeSync(open)
  }
  renameSync(temporary, file)
}
