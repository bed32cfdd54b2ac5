import { readFileSync } from 'node:fs'
import { wrongUsage } from '../cliError.ts'

/**
 * Reads a file that holds one secret and nothing else. What is in it is never repeated.
 *
 * @param path - The file.
 * @param words - For the error: what the file is called and holds, and what to do where it cannot be read.
 * @throws {CliError} exit code 2 where it cannot be read, is empty or holds more than one line.
 */
export function readSecretFile(
  path: string,
  words: { readonly name: string; readonly holds: string; readonly hint: string },
): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown reason'
    throw wrongUsage(`the ${words.name} ${path} cannot be read (${reason})`, words.hint)
  }
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  if (lines.length === 1) return (lines[0] as string).trim()
  throw wrongUsage(
    `the ${words.name} ${path} ${lines.length === 0 ? 'is empty' : 'holds more than one line'}`,
    `it must hold one ${words.holds} and nothing else`,
  )
}
