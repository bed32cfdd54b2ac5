import { CliError } from '../cliError.ts'

const getFix = (code: string, option: string): string => {
  switch (code) {
    case 'ENOENT':
      return 'create its folder first'
    case 'EACCES':
      return `use a file that you can write to with ${option}`
    case 'EISDIR':
      return `use a file with ${option}`
    case 'ENOSPC':
      return 'free some disk space, then run the same command again to resume'
    default:
      return `use another file with ${option}`
  }
}

/**
 * Converts a file system error to a CLI error.
 *
 * @param path - The file.
 * @param error - What was thrown. Anything but a system error is returned unchanged.
 * @param option - The option that names the file, for the hint.
 */
export function toFileError(path: string, error: unknown, option = '--out'): Error {
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined) return error as Error
  return new CliError(`cannot use ${path} (${code})`, { hint: getFix(code, option) })
}
