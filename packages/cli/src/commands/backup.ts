import { backUp, getDatabaseFile, restore as restoreDatabase } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { exitCodes, wrongUsage } from '../cliError.ts'
import { print, printData } from '../output/print.ts'
import { getConfigFile } from './getConfigFile.ts'
import { withConfig } from './withConfig.ts'

const readFile = (given: ReadArguments, command: string): string => {
  const [copy, ...more] = given.positionals
  if (copy === undefined || more.length > 0) throw wrongUsage(`keyrail ${command} needs one FILE`)
  return copy
}

/**
 * `keyrail backup FILE`: copies the service's SQLite database while the service runs.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 if the config or the path is invalid, or the service uses PostgreSQL.
 */
export async function backup(given: ReadArguments): Promise<number> {
  const copy = readFile(given, 'backup')
  const config = getConfigFile(given)
  await withConfig(config, () => backUp(getDatabaseFile(config), copy))
  if (given.flag('json')) await printData(JSON.stringify({ copy }))
  else
    await print(`Copied the database to ${copy}. It contains hashes and encrypted keys: protect it like the database.`)
  return exitCodes.ok
}

/**
 * `keyrail restore FILE`: replaces the service's SQLite database with a copy, while the service is stopped.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 if the config or the copy is invalid, or the service is running. Nothing is changed in that case.
 */
export async function restore(given: ReadArguments): Promise<number> {
  const copy = readFile(given, 'restore')
  const config = getConfigFile(given)
  const { database, previous } = await withConfig(config, () => {
    const file = getDatabaseFile(config)
    return { database: file, previous: restoreDatabase(file, copy) }
  })
  if (given.flag('json')) await printData(JSON.stringify({ database, previous: previous ?? null }))
  else
    await print([
      `Restored ${database} from ${copy}`,
      ...(previous === undefined ? [] : [`The previous database is in ${previous}`]),
    ])
  return exitCodes.ok
}
