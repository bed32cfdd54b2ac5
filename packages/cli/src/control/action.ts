import type { ReadArguments } from '../arguments/command.ts'
import type { ControlApiClient } from './controlApi.ts'

/** What an action came to. */
export interface Said {
  /** For programs. Holds a key only where it was asked for. */
  readonly json: unknown
  /** For people. Never holds a key. */
  readonly lines: readonly string[]
  /** A key that was asked for: alone on standard output, so that it can be piped; the lines go to standard error then. */
  readonly apiKey?: string | undefined
}

/** What an action works with. */
export interface Asked {
  readonly given: ReadArguments
  readonly ask: ControlApiClient
  /** The words after the action's name, as many as it needs. */
  readonly words: readonly string[]
}

/** One thing that can be done through the control API. */
export interface Action {
  /** What must follow its name, for words such as `NAME`. */
  readonly needs: readonly string[]
  /** Its own options, beside those of every action. */
  readonly takes: readonly string[]
  /** Whether it takes a person, with a password, in place of a token. @default false */
  readonly byPerson?: boolean
  /** What must be right before anybody is asked for a token or a password. */
  readonly check?: (given: ReadArguments) => void
  readonly run: (asked: Asked) => Promise<Said>
}

/** The actions of one command, by name. */
export type Actions = Readonly<Record<string, Action>>
