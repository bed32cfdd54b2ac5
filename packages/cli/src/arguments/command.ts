/** The declaration of an option. */
export interface OptionDeclaration {
  readonly type: 'boolean' | 'string'
  /** The placeholder for the value in the help: `N`, `DIR`. */
  readonly value?: string
  /** The allowed values, for shell completion. */
  readonly values?: readonly string[]
  /** A one-line description. */
  readonly about: string
}

/** Declares an option without a value. */
export const flag = (about: string): OptionDeclaration => ({ type: 'boolean', about })

/**
 * Declares an option with a value.
 *
 * @param value - The placeholder for the value.
 * @param about - A one-line description.
 * @param values - The allowed values, for shell completion.
 */
export const option = (value: string, about: string, values?: readonly string[]): OptionDeclaration => ({
  type: 'string',
  value,
  about,
  ...(values && { values }),
})

/** Parsed arguments. */
export interface ReadArguments {
  /** The last value of an option. */
  readonly text: (name: string) => string | undefined
  /** All values of a repeatable option, in order. */
  readonly texts: (name: string) => readonly string[]
  readonly flag: (name: string) => boolean
  readonly positionals: readonly string[]
}

/** The declaration of a command. `commandTable.ts` lists all. */
export interface Command {
  readonly name: string
  /** The usage line, without `keyrail`. */
  readonly usage: string
  /** A one-line description. */
  readonly about: string
  readonly options: Readonly<Record<string, OptionDeclaration>>
  /** The values of its first argument, if they are few: each with its own arguments, as `create NAME`, and a description. */
  readonly actions?: readonly (readonly [usage: string, about: string])[]
  /** Options that users might try, and what to do instead. */
  readonly rejected?: Readonly<Record<string, string>>
  /** Paragraphs after the options in the help. */
  readonly notes: readonly string[]
  /** Command lines for the help. */
  readonly examples?: readonly string[]
  /** Runs the command and returns the exit code. Imported lazily, so that `call` does not load the service. */
  readonly run: (given: ReadArguments) => Promise<number>
}

/** Returns the values of a command's first argument. */
export const getActionNames = ({ actions = [] }: Pick<Command, 'actions'>): readonly string[] =>
  actions.map(([usage]) => usage.split(' ', 1)[0] as string)
