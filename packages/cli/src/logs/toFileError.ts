import { CliError } from '../cliError.ts'

const fixes: Readonly<Record<string, string>> = {
  ENOENT: 'make its folder first',
  EACCES: 'name a file that you may write, by --out',
  EISDIR: 'name a file, by --out',
  ENOSPC: 'make room; the same command then goes on',
}

/**
 * What went wrong with a file, and the fix.
 *
 * @param path - The file.
 * @param error - What the platform threw. What is not the platform's is given back as it is.
 */
export function toFileError(path: string, error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined) return error as Error
  return new CliError(`${path} cannot be used (${code})`, { hint: fixes[code] ?? 'name another file by --out' })
}
