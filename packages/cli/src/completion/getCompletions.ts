import { getActionNames } from '../arguments/command.ts'
import type { Command } from '../arguments/command.ts'

/** The kind of an option's value. */
export type ValueKind = 'none' | 'text' | 'file' | 'folder' | 'choice'

/** An option, for completion. */
export interface OptionCompletion {
  /** Without hyphens. */
  readonly name: string
  readonly about: string
  readonly kind: ValueKind
  /** The values of a choice. */
  readonly values: readonly string[]
}

/** A command, for completion. */
export interface CommandCompletion {
  readonly name: string
  readonly about: string
  readonly options: readonly OptionCompletion[]
  /** The values of its first argument. */
  readonly words: readonly string[]
}

const getKind = ({ type, value, values }: Command['options'][string]): ValueKind => {
  if (type === 'boolean') return 'none'
  if (values !== undefined) return 'choice'
  return value === 'FILE' ? 'file' : value === 'DIR' ? 'folder' : 'text'
}

const isNetworkOption = (name: string): boolean => name === 'network' || name === 'networks'

/**
 * Converts the command table to the input of the completion scripts.
 *
 * @param commands - The command table.
 * @param words - The first arguments of commands that have too many for the table.
 * @param networks - Names of networks that are often used.
 */
export function getCompletions(
  commands: readonly Command[],
  words: Readonly<Record<string, readonly string[]>> = {},
  networks: readonly string[] = [],
): CommandCompletion[] {
  return commands.map(({ name, about, options, actions }) => ({
    name,
    about,
    options: Object.entries(options).map(([option, declared]) => ({
      name: option,
      about: declared.about,
      ...(isNetworkOption(option) && networks.length > 0
        ? { kind: 'choice' as const, values: networks }
        : { kind: getKind(declared), values: declared.values ?? [] }),
    })),
    words: actions ? getActionNames({ actions }) : (words[name] ?? []),
  }))
}
