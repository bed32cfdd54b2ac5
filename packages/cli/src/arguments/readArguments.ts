import { parseArgs } from 'node:util'
import { wrongUsage } from '../cliError.ts'
import type { Command, ReadArguments } from './command.ts'
import { nearest } from './nearest.ts'

/**
 * Reads the words after a command's name.
 * Values are never repeated in an error: one of them may be a key that was typed in the wrong place.
 *
 * @param command - The command as it is declared.
 * @param words - The words of the command line after the command's name.
 * @throws {CliError} exit code 2: an unknown or rejected option, a missing value, a value where none belongs.
 */
export function readArguments(command: Command, words: readonly string[]): ReadArguments {
  const { tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(Object.entries(command.options).map(([name, { type }]) => [name, { type }])),
    // The own checks below name the nearest option, which strict mode does not.
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const flags = new Set<string>()
  const values = new Map<string, string[]>()
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const rejection = command.rejected?.[token.name]
    if (rejection !== undefined) throw wrongUsage(`${token.rawName} is not accepted`, rejection)
    const option = command.options[token.name]
    if (!option || !token.rawName.startsWith('--')) throw unknownOption(command, token.rawName)
    if (option.type === 'boolean') {
      if (token.value !== undefined) throw wrongUsage(`${token.rawName} takes no value`)
      flags.add(token.name)
    } else {
      // In `--port --json` the second word is an option, not the first one's value.
      const missing = !token.value || (!token.inlineValue && token.value.startsWith('-') && token.value !== '-')
      if (missing) throw wrongUsage(`${token.rawName} needs a value: ${token.rawName} ${option.value ?? 'VALUE'}`)
      values.set(token.name, [...(values.get(token.name) ?? []), token.value as string])
    }
  }
  return {
    text: (name) => values.get(name)?.at(-1),
    texts: (name) => values.get(name) ?? [],
    flag: (name) => flags.has(name),
    positionals,
  }
}

function unknownOption(command: Command, rawName: string): Error {
  if (/^-\d/.test(rawName)) {
    return wrongUsage(
      'a param starts with a minus sign and a digit',
      'quantities are not negative in JSON-RPC; to send a number as it is, use --params',
    )
  }
  const meant = nearest(
    rawName,
    Object.keys(command.options).map((name) => `--${name}`),
  )
  return wrongUsage(
    `keyrail ${command.name} has no option ${rawName}`,
    `${meant === undefined ? '' : `did you mean ${meant}? `}see keyrail ${command.name} --help`,
  )
}
