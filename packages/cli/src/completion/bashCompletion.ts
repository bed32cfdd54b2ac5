import type { CommandCompletion, OptionCompletion } from './getCompletions.ts'

const valueCase = ({ name, kind, values }: OptionCompletion): string[] => {
  const pattern = `        --${name})`
  switch (kind) {
    case 'file':
      return [`${pattern} COMPREPLY=($(compgen -f -- "$current")); return ;;`]
    case 'folder':
      return [`${pattern} COMPREPLY=($(compgen -d -- "$current")); return ;;`]
    case 'choice':
      return [`${pattern} COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$current")); return ;;`]
    case 'text':
      return [`${pattern} return ;;`]
    case 'none':
      return []
  }
}

const commandCase = ({ name, options, words, namedBy }: CommandCompletion): string[] => {
  const values = options.flatMap((option) => valueCase(option))
  return [
    `    ${name})`,
    ...(values.length === 0 ? [] : ['      case "$before" in', ...values, '      esac']),
    `      options='${options.map((option) => `--${option.name}`).join(' ')}'`,
    ...(words.length === 0 ? [] : [`      words='${words.join(' ')}'`]),
    ...(namedBy.length === 0 ? [] : [`      named=' ${namedBy.join(' ')} '`]),
    '      ;;',
  ]
}

/**
 * Generates the completion script for bash. It runs `keyrail` only for the names of apps and keys, which the service has.
 *
 * @param commands - The commands.
 * @returns A script for `source`.
 */
export function bashCompletion(commands: readonly CommandCompletion[]): string {
  const names = [...commands.map(({ name }) => name), 'help', '--help', '--version']
  return [
    '# bash completion for keyrail. Add to ~/.bashrc: source <(keyrail completion bash)',
    '_keyrail() {',
    '  local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" options="" words="" named="" name',
    '  COMPREPLY=()',
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    COMPREPLY=($(compgen -W '${names.join(' ')}' -- "$current"))`,
    '    return',
    '  fi',
    '  case "${COMP_WORDS[1]}" in',
    `    help) words='${commands.map(({ name }) => name).join(' ')}' ;;`,
    ...commands.flatMap((command) => commandCase(command)),
    '  esac',
    '  if [ "${current:0:1}" = - ]; then',
    '    COMPREPLY=($(compgen -W "$options" -- "$current"))',
    '  elif [ "$COMP_CWORD" -eq 2 ]; then',
    '    COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '  elif [ "$COMP_CWORD" -eq 3 ] && [[ "$named" == *" ${COMP_WORDS[2]} "* ]]; then',
    '    # Not with compgen -W, which would expand $ in a name.',
    '    while IFS= read -r name; do',
    '      [[ "$name" == "$current"* ]] && COMPREPLY+=("$(printf %q "$name")")',
    '    done < <(keyrail "${COMP_WORDS[1]}" list --names </dev/null 2>/dev/null)',
    '  fi',
    '}',
    'complete -o default -F _keyrail keyrail',
  ].join('\n')
}
