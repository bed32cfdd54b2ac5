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

/** Parsed arguments. */
export interface ReadArguments {
  /** The last value of an option. */
  readonly text: (name: string) => string | undefined
  /** All values of a repeatable option, in order. */
  readonly texts: (name: string) => readonly string[]
  readonly flag: (name: string) => boolean
  readonly positionals: readonly string[]
}

/** The declaration of a command, in `commandTable.ts`. */
export interface Command {
  readonly name: string
  /** The usage line, without `keyrail`. */
  readonly usage: string
  /** A one-line description. */
  readonly about: string
  readonly options: Readonly<Record<string, OptionDeclaration>>
  /** The allowed values of its first argument, if they are few. */
  readonly words?: readonly string[]
  /** Options that users might try, and what to do instead. */
  readonly rejected?: Readonly<Record<string, string>>
  /** Paragraphs after the options in the help. */
  readonly notes: readonly string[]
  /** Runs the command and returns the exit code. Imported lazily, so that `call` does not load the service. */
  readonly run: (given: ReadArguments) => Promise<number>
}
