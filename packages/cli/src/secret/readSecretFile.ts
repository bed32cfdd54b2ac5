import { readFileSync } from 'node:fs'
import { wrongUsage } from '../cliError.ts'

/**
 * Reads a file that contains one secret and nothing else. Errors never contain its content.
 *
 * @param path - The file.
 * @param words - For errors: the file's role and content, and how to fix it.
 * @throws {CliError} exit code 2 if it cannot be read, is empty or has more than one line.
 */
export function readSecretFile(
  path: string,
  words: { readonly name: string; readonly content: string; readonly hint: string },
): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown reason'
    throw wrongUsage(`cannot read the ${words.name} ${path} (${reason})`, words.hint)
  }
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  if (lines.length === 1) return (lines[0] as string).trim()
  throw wrongUsage(
    `the ${words.name} ${path} ${lines.length === 0 ? 'is empty' : 'has more than one line'}`,
    `it must contain one ${words.content} and nothing else`,
  )
}
