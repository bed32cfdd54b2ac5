import type { CommandCompletion, OptionCompletion } from './getCompletions.ts'

const quoted = (text: string): string => `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`

const needs = ({ kind, values }: OptionCompletion): string => {
  switch (kind) {
    case 'file':
      return ' -r -F'
    case 'folder':
      return " -x -a '(__fish_complete_directories)'"
    case 'choice':
      return ` -x -a ${quoted(values.join(' '))}`
    case 'text':
      return ' -x'
    case 'none':
      return ''
  }
}

const commandLines = ({ name, about, options, words, namedBy }: CommandCompletion): string[] => {
  const within = `complete -c keyrail -n '__fish_seen_subcommand_from ${name}'`
  return [
    `complete -c keyrail -n __fish_use_subcommand -a ${name} -d ${quoted(about)}`,
    ...(words.length === 0 ? [] : [`${within} -a ${quoted(words.join(' '))}`]),
    ...(namedBy.length === 0
      ? []
      : [
          `${within.slice(0, -1)}; and __fish_seen_subcommand_from ${namedBy.join(' ')}' -a '(keyrail ${name} list --names </dev/null 2>/dev/null)'`,
        ]),
    ...options.map((option) => `${within} -l ${option.name}${needs(option)} -d ${quoted(option.about)}`),
  ]
}

/**
 * Generates the completion script for fish.
 *
 * @param commands - The commands.
 * @returns A script for `~/.config/fish/completions/keyrail.fish`.
 */
export function fishCompletion(commands: readonly CommandCompletion[]): string {
  return [
    '# fish completion for keyrail: keyrail completion fish > ~/.config/fish/completions/keyrail.fish',
    'complete -c keyrail -f',
    `complete -c keyrail -n __fish_use_subcommand -a help -d 'Show help for a command'`,
    `complete -c keyrail -n '__fish_seen_subcommand_from help' -a ${quoted(commands.map(({ name }) => name).join(' '))}`,
    ...commands.flatMap((command) => commandLines(command)),
  ].join('\n')
}
