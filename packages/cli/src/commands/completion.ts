import { methodNames } from '@keyrail/core'
import type { Command, ReadArguments } from '../arguments/command.ts'
import { exitCodes, wrongUsage } from '../cliError.ts'
import { bashCompletion } from '../completion/bashCompletion.ts'
import { getCompletions } from '../completion/getCompletions.ts'
import { fishCompletion } from '../completion/fishCompletion.ts'
import { zshCompletion } from '../completion/zshCompletion.ts'
import { printData } from '../output/print.ts'

const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const

/**
 * `keyrail completion bash|zsh|fish`: prints a completion script, generated from the command table.
 *
 * @param given - The command's arguments.
 * @param commands - The command table.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 for any other shell.
 */
export async function completion(given: ReadArguments, commands: readonly Command[]): Promise<number> {
  const [shell = '', ...more] = given.positionals
  if (!Object.hasOwn(shells, shell) || more.length > 0) {
    throw wrongUsage('keyrail completion needs a shell: bash, zsh or fish', 'see keyrail completion --help')
  }
  const { listKnownNetworks } = await import('@keyrail/gateway')
  const networks = ['testnet', 'mainnet', ...listKnownNetworks().map(({ name }) => name)]
  const script = shells[shell as keyof typeof shells](getCompletions(commands, { call: methodNames }, networks))
  await printData(given.flag('json') ? JSON.stringify({ shell, script }) : script)
  return exitCodes.ok
}
