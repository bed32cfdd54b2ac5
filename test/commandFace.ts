/** What of a command its users type. */
interface Typed {
  readonly name: string
  readonly words?: readonly string[]
  readonly options: Readonly<
    Record<
      string,
      { readonly type: 'boolean' | 'string'; readonly value?: string; readonly values?: readonly string[] }
    >
  >
}

/**
 * Lists what scripts are written against: the words of every command, its options and their values, and the exit codes. What the help
 * says of them may change as it likes.
 * @param commands - The table of commands.
 * @param exitCodes - How the command ends, by name.
 */
export function commandFace(commands: readonly Typed[], exitCodes: Readonly<Record<string, number>>): string {
  const ends = Object.entries(exitCodes).map(([name, code]) => `exit ${code} ${name}`)
  const lines = commands.flatMap(({ name, words = [], options }) => [
    '',
    `keyrail ${[name, words.join('|')].join(' ').trim()}`,
    ...Object.entries(options)
      .map(([option, { type, value, values }]) =>
        type === 'boolean' ? `  --${option}` : `  --${option} ${values?.join('|') ?? value ?? 'VALUE'}`,
      )
      .sort(),
  ])
  return [...ends, ...lines, ''].join('\n')
}
