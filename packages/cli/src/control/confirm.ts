import { createInterface } from 'node:readline/promises'
import type { ReadArguments } from '../arguments/command.ts'
import { CliError, wrongUsage } from '../cliError.ts'
import { canPrompt } from '../secret/promptSecret.ts'

/**
 * Sees to it that somebody means what cannot be undone: by `--yes`, or by typing its name on the terminal.
 *
 * @param given - The command's arguments.
 * @param what - What will be done, as in `revoke Shop`, and the name that must be typed.
 * @throws {CliError} exit code 2 where there is neither; exit code 1 where something else was typed.
 */
export async function confirm(
  given: ReadArguments,
  what: { readonly done: string; readonly name: string },
): Promise<void> {
  if (given.flag('yes')) return
  if (!canPrompt()) throw wrongUsage(`to ${what.done} cannot be undone`, 'add --yes if it is meant')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const typed = await lines.question(`To ${what.done} cannot be undone. Type its name to go on: `)
    if (typed.trim() !== what.name) throw new CliError('another name was typed, and nothing was done')
  } finally {
    lines.close()
  }
}
