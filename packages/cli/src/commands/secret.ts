import { openOperatorTools } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { exitCodes, wrongUsage } from '../cliError.ts'
import { print, printData } from '../output/print.ts'
import { getConfigFile } from './getConfigFile.ts'
import { withConfig } from './withConfig.ts'

/**
 * `keyrail secret rotate` and `keyrail secret drop-old`: the secret under which keys are sealed.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0; 1 where some keys could not be opened.
 * @throws {CliError} exit code 2 for a wrong command line, or where the config or the secret's file cannot be used.
 */
export async function secret(given: ReadArguments): Promise<number> {
  const [name, ...more] = given.positionals
  if ((name !== 'rotate' && name !== 'drop-old') || more.length > 0) {
    throw wrongUsage('keyrail secret takes rotate or drop-old', 'see keyrail secret --help')
  }
  const file = getConfigFile(given)
  const done = await withConfig(file, async () => {
    const tools = await openOperatorTools(file)
    try {
      return await tools.rotateSecret({ drop: name === 'drop-old' })
    } finally {
      await tools.close()
    }
  })
  const { version, resealed, unreadable, dropped } = done
  if (given.flag('json')) await printData(JSON.stringify(done))
  else {
    await print([
      `${resealed} keys were sealed anew; the newest secret is of version ${version}.`,
      ...(dropped.length === 0 ? [] : [`Versions ${dropped.join(', ')} are gone from the file.`]),
      ...(unreadable.length === 0
        ? []
        : [`No secret opens the copies of ${unreadable.join(', ')}: they work, but cannot be shown again.`]),
      ...(name === 'rotate' && unreadable.length === 0
        ? ['The old secret is still in the file. Once every instance has taken the new one: keyrail secret drop-old']
        : []),
    ])
  }
  return unreadable.length === 0 ? exitCodes.ok : exitCodes.rejected
}
