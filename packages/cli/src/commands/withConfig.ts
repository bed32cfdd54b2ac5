import { existsSync } from 'node:fs'
import { isConfigError, isStorageError } from '@keyrail/gateway'
import { CliError, exitCodes } from '../cliError.ts'

/**
 * Does what needs a service's config or its database, and puts what is wrong with either in words for the keyboard.
 *
 * @param file - The config file, for the words.
 * @param work - What is to be done.
 * @throws {CliError} exit code 2 if the config or the database cannot be used; 1 if the database fails later, or another process holds it.
 */
export async function withConfig<T>(file: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isConfigError(error)) {
      const faults = error.faults.map(({ path, fix }) => `${path} ${fix}`)
      throw new CliError(
        faults.length === 1 ? (faults[0] ?? '') : `there are ${faults.length} faults:\n  ${faults.join('\n  ')}`,
        {
          hint: `${existsSync(file) ? `the config is ${file}` : 'name another with --config FILE'}; docs/service/running.md tells what it holds`,
          exitCode: exitCodes.usage,
        },
      )
    }
    if (isStorageError(error)) {
      throw new CliError(error.message, {
        hint: 'is the database there, and may this user open it? DATABASE_URL, or storage.file in the config, says where it is',
      })
    }
    throw error
  }
}
