import { backUp, databaseFileOf, restore as restoreDatabase } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { exitCodes, wrongUsage } from '../cliError.ts'
import { print, printData } from '../output/print.ts'
import { getConfigFile } from './getConfigFile.ts'
import { withConfig } from './withConfig.ts'

const fileOf = (given: ReadArguments, command: string): string => {
  const [copy, ...more] = given.positionals
  if (copy === undefined || more.length > 0) throw wrongUsage(`keyrail ${command} takes one file`)
  return copy
}

/**
 * `keyrail backup FILE`: a copy of the service's SQLite database, while the service runs.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 where the config or the copy's path cannot be used, or the service is on PostgreSQL.
 */
export async function backup(given: ReadArguments): Promise<number> {
  const copy = fileOf(given, 'backup')
  const config = getConfigFile(given)
  await withConfig(config, () => backUp(databaseFileOf(config), copy))
  if (given.flag('json')) await printData(JSON.stringify({ copy }))
  else await print(`The database is in ${copy}. It holds hashes and sealed keys: keep it as you keep the database.`)
  return exitCodes.ok
}

/**
 * `keyrail restore FILE`: a copy in the place of the service's SQLite database, while the service is stopped.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 where the config or the copy cannot be used, or the service runs. Nothing is changed then.
 */
export async function restore(given: ReadArguments): Promise<number> {
  const copy = fileOf(given, 'restore')
  const config = getConfigFile(given)
  const { database, before } = await withConfig(config, () => {
    const file = databaseFileOf(config)
    return { database: file, before: restoreDatabase(file, copy) }
  })
  if (given.flag('json')) await printData(JSON.stringify({ database, before: before ?? null }))
  else
    await print([
      `${database} is what ${copy} holds.`,
      ...(before === undefined ? [] : [`What was there is ${before}`]),
    ])
  return exitCodes.ok
}
