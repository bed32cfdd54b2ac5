import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { CliError, wrongUsage } from '../cliError.ts'

/** A file that a key will be put into. */
export interface ReservedKeyFile {
  readonly path: string
  /** Puts the key there, for its owner's eyes alone. */
  readonly write: (apiKey: string) => void
  /** Leaves everything as it was. Safe to call after `write`. */
  readonly release: () => void
}

const holdsOneKey = (path: string): boolean => /^kr_[atm][0-9A-Za-z]{39}\s*$/.test(readFileSync(path, 'utf8'))

/**
 * Sees to it that a key can be put into a file, before the key is made: one that was made and could not be kept would be lost.
 *
 * @param path - The file.
 * @param options.replaces - Whether a file that holds a key, and nothing else, gives way to the new one. @default false
 * @throws {CliError} exit code 2 where something stands in the way; exit code 1 where the folder cannot be written to.
 */
export function reserveKeyFile(
  path: string,
  { replaces = false }: { readonly replaces?: boolean } = {},
): ReservedKeyFile {
  const file = resolve(path)
  const beside = `${file}.${process.pid}.new`
  try {
    if (!holdsOneKey(file) || !replaces) {
      throw wrongUsage(`${file} is there already, and is left as it is`, 'give another file with --key-file')
    }
  } catch (error) {
    if (error instanceof CliError) throw error
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw cannotBeWritten(file, error)
  }
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(beside, '', { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw cannotBeWritten(file, error)
  }
  return {
    path: file,
    write: (apiKey) => {
      writeFileSync(beside, `${apiKey}\n`)
      renameSync(beside, file)
    },
    release: () => rmSync(beside, { force: true }),
  }
}

const cannotBeWritten = (file: string, error: unknown): CliError =>
  new CliError(`${file} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`, {
    hint: 'nothing was done; give a file in a folder that can be written with --key-file',
  })
