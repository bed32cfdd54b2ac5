/** A command, with the arguments that users type. */
interface Command {
  readonly name: string
  readonly actions?: readonly (readonly [usage: string, about: string])[]
  readonly options: Readonly<
    Record<
      string,
      { readonly type: 'boolean' | 'string'; readonly value?: string; readonly values?: readonly string[] }
    >
  >
}

/**
 * Lists the interface that scripts depend on: the arguments of every command, its options and their values, and the exit codes, without help
 * texts.
 * @param commands - The table of commands.
 * @param exitCodes - The exit codes by name.
 */
export function formatCommandApi(commands: readonly Command[], exitCodes: Readonly<Record<string, number>>): string {
  const codes = Object.entries(exitCodes).map(([name, code]) => `  ${code}  ${name}`)
  const usages = commands.flatMap(({ name, actions = [], options }) => [
    '',
    `keyrail ${[name, actions.map(([usage]) => usage.split(' ', 1)).join('|')].join(' ').trim()}`,
    ...Object.entries(options)
      .map(([option, { type, value, values }]) =>
        type === 'boolean' ? `  --${option}` : `  --${option} ${values?.join('|') ?? value ?? 'VALUE'}`,
      )
      .sort(),
  ])
  return ['Exit codes', '', ...codes, '', 'Commands', ...usages, ''].join('\n')
}
