import type { CommandCompletion, OptionCompletion } from './getCompletions.ts'

/** In single quotes, and without what `_arguments` and `_describe` would take for their own signs. */
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

const commandCase = ({ name, options, words }: CommandCompletion): string[] => [
  `    ${name})`,
  '      _arguments \\',
  ...options.map((option) => optionLine(option)),
  words.length === 0 ? "        '*: : '" : `        '1: :(${words.join(' ')})' '*: : '`,
  '      ;;',
]

/**
 * Writes the completion for zsh.
 *
 * @param commands - What there is to complete.
 * @returns A function file for `fpath`, which can also be read by `source` once `compinit` has run.
 */
export function zshCompletion(commands: readonly CommandCompletion[]): string {
  return [
    '#compdef keyrail',
    '# Completion of keyrail for zsh. Into ~/.zshrc, after compinit: source <(keyrail completion zsh)',
    '_keyrail() {',
    '  local -a commands',
    '  commands=(',
    ...commands.map(({ name, about }) => `    '${name}:${described(about)}'`),
    "    'help:Show the help of a command.'",
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
    // As a function file it is called by its first completion; read by `source` it only says what it completes.
    'if [ "$funcstack[1]" = _keyrail ]; then',
    '  _keyrail "$@"',
    'else',
    '  compdef _keyrail keyrail',
    'fi',
  ].join('\n')
}
