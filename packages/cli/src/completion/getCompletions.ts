import type { Command } from '../arguments/command.ts'

/** What can follow an option. */
export type ValueKind = 'none' | 'text' | 'file' | 'folder' | 'choice'

/** An option, as a shell completes it. */
export interface OptionCompletion {
  /** Without its hyphens. */
  readonly name: string
  readonly about: string
  readonly kind: ValueKind
  /** Of a choice. */
  readonly values: readonly string[]
}

/** A command, as a shell completes it. */
export interface CommandCompletion {
  readonly name: string
  readonly about: string
  readonly options: readonly OptionCompletion[]
  /** What its first word can be. */
  readonly words: readonly string[]
}

const kindOf = ({ type, value, values }: Command['options'][string]): ValueKind => {
  if (type === 'boolean') return 'none'
  if (values !== undefined) return 'choice'
  return value === 'FILE' ? 'file' : value === 'DIR' ? 'folder' : 'text'
}

/**
 * Makes of the table of commands what shells need to complete them.
 *
 * @param commands - The table.
 * @param words - First words of commands that are not in the table, because there are many.
 */
export function getCompletions(
  commands: readonly Command[],
  words: Readonly<Record<string, readonly string[]>> = {},
): CommandCompletion[] {
  return commands.map(({ name, about, options, words: own }) => ({
    name,
    about,
    options: Object.entries(options).map(([option, declared]) => ({
      name: option,
      about: declared.about,
      kind: kindOf(declared),
      values: declared.values ?? [],
    })),
    words: own ?? words[name] ?? [],
  }))
}
