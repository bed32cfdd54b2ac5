/** One option of a command, as it is declared. */
export interface OptionDeclaration {
  readonly type: 'boolean' | 'string'
  /** What stands for the value in the help: `N`, `DIR`. */
  readonly value?: string
  /** All that its value can be, for shells to complete. */
  readonly values?: readonly string[]
  /** What it does, in one line. */
  readonly about: string
}

/** What was read from a command line. */
export interface ReadArguments {
  /** The value that was given last. */
  readonly text: (name: string) => string | undefined
  /** Every value that was given, in order: for options that may be given several times. */
  readonly texts: (name: string) => readonly string[]
  readonly flag: (name: string) => boolean
  readonly positionals: readonly string[]
}

/** A command, as it is declared in `commandTable.ts`. */
export interface Command {
  readonly name: string
  /** The line that shows how it is typed, without `keyrail`. */
  readonly usage: string
  /** What it does, in one line. */
  readonly about: string
  readonly options: Readonly<Record<string, OptionDeclaration>>
  /** What its first word can be, where that is one of a few. */
  readonly words?: readonly string[]
  /** Names that people try, and what to do in their place. */
  readonly rejected?: Readonly<Record<string, string>>
  /** Paragraphs below the options in the help. */
  readonly notes: readonly string[]
  /** Does the work and gives the exit code. Loaded late, so that a call does not pay for the service. */
  readonly run: (given: ReadArguments) => Promise<number>
}
