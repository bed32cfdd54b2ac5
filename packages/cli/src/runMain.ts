import { findNearestName } from '@keyrail/core/internal'
import { readArguments } from './arguments/readArguments.ts'
import { exitCodes, wrongUsage } from './cliError.ts'
import { commandGroups, commands } from './commandTable.ts'
import { formatFailure } from './output/formatFailure.ts'
import { commandHelp, mainHelp } from './output/helpText.ts'
import { print, printNote } from './output/print.ts'
import { getStyle } from './output/style.ts'
import { toFailureJson } from './output/toFailureJson.ts'
import { readVersion } from './readVersion.ts'

/** Gets the words before `--`. */
const getOptions = (words: readonly string[]): readonly string[] =>
  words.includes('--') ? words.slice(0, words.indexOf('--')) : words

async function dispatch(words: readonly string[]): Promise<number> {
  const [first, ...rest] = words
  const style = getStyle(process.stdout)
  if (first === '--version' || first === '-V' || first === '-v') {
    await print(readVersion())
    return exitCodes.ok
  }
  const name = first === 'help' ? rest[0] : first
  if (name === undefined || name === '--help' || name === '-h') {
    await print(mainHelp(commandGroups, style))
    return first === undefined ? exitCodes.usage : exitCodes.ok
  }
  const command = commands.find((one) => one.name === name)
  if (!command) {
    const known = [...commands.map((one) => one.name), 'help', '--help', '--version']
    const meant = findNearestName(name, known)
    throw wrongUsage(
      `unknown ${name.startsWith('-') ? 'option' : 'command'} ${name}`,
      meant === undefined ? 'see keyrail --help' : `did you mean ${meant}? See keyrail --help`,
    )
  }
  const options = getOptions(rest)
  if (first === 'help' || options.includes('--help') || options.includes('-h')) {
    await print(commandHelp(command, style))
    return exitCodes.ok
  }
  return command.run(readArguments(command, rest))
}

/**
 * Runs a command line and prints its result or its failure, with `--json` as JSON. Never throws and never exits the process.
 *
 * @param words - The arguments after `keyrail`.
 * @returns The exit code.
 */
export async function runMain(words: readonly string[]): Promise<number> {
  try {
    return await dispatch(words)
  } catch (error) {
    const report = formatFailure(error, getStyle(process.stderr))
    await printNote(getOptions(words).includes('--json') ? JSON.stringify(toFailureJson(error)) : report.lines)
    return report.exitCode
  }
}
