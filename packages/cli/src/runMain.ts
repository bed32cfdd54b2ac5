import { readFileSync } from 'node:fs'
import { nearest } from './arguments/nearest.ts'
import { readArguments } from './arguments/readArguments.ts'
import { exitCodes, wrongUsage } from './cliError.ts'
import { commands } from './commandTable.ts'
import { formatFailure } from './output/formatFailure.ts'
import { commandHelp, mainHelp } from './output/helpText.ts'
import { print, printNote } from './output/print.ts'
import { getStyle } from './output/style.ts'

// The built file is at the same depth as this one, so the same path leads to the manifest.
const version = (): string =>
  (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version

async function dispatch(words: readonly string[]): Promise<number> {
  const [first, ...rest] = words
  const style = getStyle(process.stdout)
  if (first === '--version' || first === '-v') {
    await print(version())
    return exitCodes.ok
  }
  const asked = first === 'help' ? rest[0] : first
  if (asked === undefined || asked === '--help' || asked === '-h') {
    await print(mainHelp(commands, style))
    return first === undefined ? exitCodes.usage : exitCodes.ok
  }
  const command = commands.find(({ name }) => name === asked)
  if (!command) {
    const known = [...commands.map(({ name }) => name), '--help', '--version']
    const meant = nearest(asked, known)
    throw wrongUsage(
      `there is no ${asked.startsWith('-') ? 'option' : 'command'} ${asked}`,
      `${meant === undefined ? '' : `did you mean ${meant}? `}see keyrail --help`,
    )
  }
  const options = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest
  if (first === 'help' || options.includes('--help') || options.includes('-h')) {
    await print(commandHelp(command, style))
    return exitCodes.ok
  }
  return command.run(readArguments(command, rest))
}

/**
 * Runs the command line, and prints its result or its failure. It never throws and never ends the process.
 *
 * @param words - The command line after `keyrail`.
 * @returns The exit code.
 */
export async function runMain(words: readonly string[]): Promise<number> {
  try {
    return await dispatch(words)
  } catch (error) {
    const report = formatFailure(error, getStyle(process.stderr))
    await printNote(report.lines)
    return report.exitCode
  }
}
