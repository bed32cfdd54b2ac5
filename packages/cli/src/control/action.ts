import type { ReadArguments } from '../arguments/command.ts'
import type { ControlApiClient } from './controlApi.ts'

/** The result of an action. */
export interface ActionResult {
  /** For programs. Contains a key only if it was requested. */
  readonly json: unknown
  /** For people. Never contains a key. */
  readonly lines: readonly string[]
  /** A requested key. It is printed alone on standard output, so that it can be piped; the lines go to standard error. */
  readonly apiKey?: string | undefined
}

/** The input of an action. */
export interface ActionContext {
  readonly given: ReadArguments
  readonly api: ControlApiClient
  /** The arguments after the action's name. */
  readonly words: readonly string[]
}

/** An action of the control API. */
export interface Action {
  /** The arguments after its name, for example `NAME`. */
  readonly needs: readonly string[]
  /** Its options, besides those of every action. */
  readonly takes: readonly string[]
  /** Whether it needs a login with a password instead of a token. @default false */
  readonly needsPassword?: boolean
  /** Validates the options before the token or the password is read. */
  readonly check?: (given: ReadArguments) => void
  readonly run: (context: ActionContext) => Promise<ActionResult>
}

/** The actions of a command, by name. */
export type Actions = Readonly<Record<string, Action>>
