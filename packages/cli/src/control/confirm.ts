import { createInterface } from 'node:readline/promises'
import type { ReadArguments } from '../arguments/command.ts'
import { CliError, wrongUsage } from '../cliError.ts'
import { canPrompt } from '../secret/promptSecret.ts'

/**
 * Requires a confirmation of an irreversible action: `--yes`, or the name typed on the terminal.
 *
 * @param given - The command's arguments.
 * @param action - `verb`: for example `revoke`. `name`: the name to type. `shownName`: the name, safe to print.
 * @throws {CliError} exit code 2 without either; exit code 1 if another name was typed.
 */
export async function confirm(
  given: ReadArguments,
  { verb, name, shownName }: { readonly verb: string; readonly name: string; readonly shownName: string },
): Promise<void> {
  if (given.flag('yes')) return
  if (!canPrompt()) throw wrongUsage(`cannot ${verb} ${shownName} without confirmation`, 'add --yes to confirm')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const typed = await lines.question(
      `This will ${verb} ${shownName}, and cannot be undone. Type the name to confirm: `,
    )
    if (typed.trim() !== name) throw new CliError('the name does not match; nothing was changed')
  } finally {
    lines.close()
  }
}
