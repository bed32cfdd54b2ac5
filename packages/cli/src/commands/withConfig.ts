import { existsSync } from 'node:fs'
import { isBackupError, isConfigError, isStorageError } from '@keyrail/gateway'
import type { ConfigFault } from '@keyrail/gateway'
import { CliError, exitCodes } from '../cliError.ts'

/** Says where to fix the faults. Some are in the environment, such as a missing secret. */
function getFix(faults: readonly ConfigFault[], file: string | undefined): string {
  if (faults.every(({ path }) => /^[A-Z_]+$/.test(path))) return 'change the environment'
  if (file === undefined) return 'change --network or --upstream, or write a config file'
  return existsSync(file)
    ? `edit ${file}`
    : 'write it as on the docs page "Running the service", or use another config with --config FILE'
}

/**
 * Runs work that uses a service's config or its database, and converts their errors to CLI errors.
 *
 * @param file - The config file, for hints; undefined if there is none.
 * @param work - The work.
 * @throws {CliError} exit code 2 if the config, the database or a copy of it is invalid; 1 if the database fails later, or is in use.
 */
export async function withConfig<T>(file: string | undefined, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isConfigError(error)) {
      const faults = error.faults.map(({ path, fix }) => `${path} ${fix}`)
      throw new CliError(
        faults.length === 1 ? (faults[0] ?? '') : `the config has ${faults.length} errors:\n  ${faults.join('\n  ')}`,
        {
          hint: `${getFix(error.faults, file)}; the docs page "Configuration" lists the options`,
          exitCode: exitCodes.usage,
        },
      )
    }
    if (isBackupError(error)) throw new CliError(error.message, { exitCode: exitCodes.usage })
    if (isStorageError(error)) {
      throw new CliError(error.message, {
        hint: 'check that the database in DATABASE_URL, or storage.file in the config, is available and that you may open it',
      })
    }
    throw error
  }
}
