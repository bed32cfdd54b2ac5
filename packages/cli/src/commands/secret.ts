import { openOperatorTools } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { exitCodes, wrongUsage } from '../cliError.ts'
import { print, printData } from '../output/print.ts'
import { getConfigFile } from './getConfigFile.ts'
import { withConfig } from './withConfig.ts'

/**
 * `keyrail secret rotate` and `keyrail secret drop-old`: manages the secret that encrypts stored keys.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0; 1 if some keys could not be decrypted.
 * @throws {CliError} exit code 2 for invalid usage, config or secret file.
 */
export async function secret(given: ReadArguments): Promise<number> {
  const [name, ...more] = given.positionals
  if ((name !== 'rotate' && name !== 'drop-old') || more.length > 0) {
    throw wrongUsage('keyrail secret needs an action: rotate or drop-old', 'see keyrail secret --help')
  }
  const file = getConfigFile(given)
  const result = await withConfig(file, async () => {
    const tools = await openOperatorTools(file)
    try {
      return await tools.rotateSecret({ drop: name === 'drop-old' })
    } finally {
      await tools.close()
    }
  })
  const { version, resealed, unreadable, dropped } = result
  if (given.flag('json')) await printData(JSON.stringify(result))
  else {
    await print([
      `Encrypted ${resealed} keys with secret version ${version}.`,
      ...(dropped.length === 0 ? [] : [`Removed versions ${dropped.join(', ')} from the file.`]),
      ...(unreadable.length === 0
        ? []
        : [`Could not decrypt ${unreadable.join(', ')}: these keys work, but cannot be revealed.`]),
      ...(name === 'rotate' && unreadable.length === 0
        ? [
            'The old secret is still in the file. Once every instance has loaded the new one, run keyrail secret drop-old.',
          ]
        : []),
    ])
  }
  return unreadable.length === 0 ? exitCodes.ok : exitCodes.rejected
}
