import type { CommandCompletion, OptionCompletion } from './getCompletions.ts'

/** Escapes text for single quotes, and for `_arguments` and `_describe`. */
const quoted = (text: string): string => text.replaceAll("'", String.raw`'\''`)
const described = (text: string): string => quoted(text.replaceAll(/[[\]:\\]/g, String.raw`\$&`))

const action = ({ kind, values }: OptionCompletion): string => {
  switch (kind) {
    case 'file':
      return ':file:_files'
    case 'folder':
      return ':folder:_files -/'
    case 'choice':
      return `:value:(${values.join(' ')})`
    case 'text':
      return ':value: '
    case 'none':
      return ''
  }
}

const optionLine = (option: OptionCompletion): string =>
  `        '--${option.name}[${described(option.about)}]${action(option)}' \\`

const commandCase = ({ name, options, words, namedBy }: CommandCompletion): string[] => [
  `    ${name})`,
  '      _arguments \\',
  ...options.map((option) => optionLine(option)),
  words.length === 0
    ? "        '*: : '"
    : `        '1: :(${words.join(' ')})'${namedBy.length === 0 ? '' : ` '2: : _keyrail_names ${name} ${namedBy.join(' ')}'`} '*: : '`,
  '      ;;',
]

/**
 * Generates the completion script for zsh.
 *
 * @param commands - The commands.
 * @returns A function file for `fpath`, which also works with `source` after `compinit`.
 */
export function zshCompletion(commands: readonly CommandCompletion[]): string {
  return [
    '#compdef keyrail',
    '# zsh completion for keyrail. Add to ~/.zshrc after compinit: source <(keyrail completion zsh)',
    '# Completes the names that a command lists, after some of its actions: the arguments are the command and these actions.',
    '_keyrail_names() {',
    '  local command="$1"',
    '  shift',
    '  [[ " $* " == *" $words[2] "* ]] || return',
    '  local -a names',
    '  names=(${(f)"$(keyrail $command list --names </dev/null 2>/dev/null)"})',
    '  compadd -a names',
    '}',
    '_keyrail() {',
    '  local -a commands',
    '  commands=(',
    ...commands.map(({ name, about }) => `    '${name}:${described(about)}'`),
    "    'help:Show help for a command'",
    '  )',
    '  if (( CURRENT == 2 )); then',
    "    _describe 'command' commands",
    '    return',
    '  fi',
    '  local command="${words[2]}"',
    '  shift words',
    '  (( CURRENT-- ))',
    '  case "$command" in',
    `    help) _arguments '1: :(${commands.map(({ name }) => name).join(' ')})' ;;`,
    ...commands.flatMap((command) => commandCase(command)),
    '  esac',
    '}',
    // As a function file, the first completion calls it. With `source`, it only registers itself.
    'if [ "$funcstack[1]" = _keyrail ]; then',
    '  _keyrail "$@"',
    'else',
    '  compdef _keyrail keyrail',
    'fi',
  ].join('\n')
}
