import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { CliError, wrongUsage } from '../cliError.ts'

/** A file reserved for a key. */
export interface ReservedKeyFile {
  readonly path: string
  /** Writes the key, readable by its owner only. */
  readonly write: (apiKey: string) => void
  /** Removes the reservation. Safe to call after `write`. */
  readonly release: () => void
}

const containsOneKey = (path: string): boolean => /^kr_[atm][0-9A-Za-z]{39}\s*$/.test(readFileSync(path, 'utf8'))

/**
 * Checks that a key can be written to a file before the key is created: a created key that cannot be written would be lost.
 *
 * @param path - The file.
 * @param options.replaces - Whether to replace a file that contains a key and nothing else. @default false
 * @throws {CliError} exit code 2 if the file exists; exit code 1 if it cannot be written.
 */
export function reserveKeyFile(
  path: string,
  { replaces = false }: { readonly replaces?: boolean } = {},
): ReservedKeyFile {
  const file = resolve(path)
  const temporary = `${file}.${process.pid}.new`
  try {
    if (!containsOneKey(file) || !replaces) throw wrongUsage(`${file} already exists`, 'use another file')
  } catch (error) {
    if (error instanceof CliError) throw error
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw toWriteError(file, error)
  }
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(temporary, '', { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw toWriteError(file, error)
  }
  return {
    path: file,
    write: (apiKey) => {
      writeFileSync(temporary, `${apiKey}\n`)
      renameSync(temporary, file)
    },
    release: () => rmSync(temporary, { force: true }),
  }
}

const toWriteError = (file: string, error: unknown): CliError =>
  new CliError(`cannot write ${file} (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`, {
    hint: 'nothing was changed; use a file in a folder that you can write to',
  })
