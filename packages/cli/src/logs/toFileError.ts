import { CliError } from '../cliError.ts'

const fixes: Readonly<Record<string, string>> = {
  ENOENT: 'create its folder first',
  EACCES: 'use a file that you can write to with --out',
  EISDIR: 'use a file with --out',
  ENOSPC: 'free some disk space, then run the same command again to resume',
}

/**
 * Converts a file system error to a CLI error.
 *
 * @param path - The file.
 * @param error - What was thrown. Anything but a system error is returned unchanged.
 */
export function toFileError(path: string, error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined) return error as Error
  return new CliError(`cannot use ${path} (${code})`, { hint: fixes[code] ?? 'use another file with --out' })
}
