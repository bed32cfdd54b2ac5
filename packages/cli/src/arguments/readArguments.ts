import { parseArgs } from 'node:util'
import { wrongUsage } from '../cliError.ts'
import type { Command, ReadArguments } from './command.ts'
import { findNearestName } from '@keyrail/core/internal'

/**
 * Parses the arguments after a command's name.
 * Errors never contain a value, because it may be a misplaced key.
 *
 * @param command - The declaration of the command.
 * @param words - The arguments after the command's name.
 * @throws {CliError} exit code 2 for an unknown or rejected option, a missing value, or a value for a flag.
 */
export function readArguments(command: Command, words: readonly string[]): ReadArguments {
  const { tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(Object.entries(command.options).map(([name, { type }]) => [name, { type }])),
    // The checks below suggest the nearest option, unlike strict mode.
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
    const alternative = command.rejected?.[token.name]
    if (alternative !== undefined) throw wrongUsage(`${token.rawName} is not accepted`, alternative)
    const option = command.options[token.name]
    if (!option || !token.rawName.startsWith('--')) throw createUnknownOptionError(command, token.rawName)
    if (option.type === 'boolean') {
      if (token.value !== undefined) throw wrongUsage(`${token.rawName} takes no value`)
      flags.add(token.name)
    } else {
      // In `--port --json`, `--json` is an option, not the value of `--port`.
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

function createUnknownOptionError(command: Command, rawName: string): Error {
  if (/^-\d/.test(rawName)) {
    return wrongUsage(
      'a param is a negative number',
      'JSON-RPC quantities cannot be negative; use --params to send a JSON number, or write -- before the arguments of a contract call',
    )
  }
  const meant = findNearestName(
    rawName,
    Object.keys(command.options).map((name) => `--${name}`),
  )
  return wrongUsage(
    `unknown option ${rawName} for keyrail ${command.name}`,
    `${meant === undefined ? 'see' : `did you mean ${meant}? See`} keyrail ${command.name} --help`,
  )
}
