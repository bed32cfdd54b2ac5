import type { FailureKind } from '@keyrail/core'
import type { Personality } from './dialects.ts'

/** Failures that a server can bring about. That a call was aborted is its caller's doing alone. */
export type FaultKind = Exclude<FailureKind, 'aborted'>

/**
 * Answers that are wrong in their form or come at the wrong time:
 * - `hang` never answers, and `slow` answers after `delayMs`
 * - `truncated`, `empty` and `htmlPage` spoil the body
 * - `wrongId`, `stringId`, `nullId`, `missingId` and `doubledId` spoil the id of an answer; `missing` leaves the answer out of its batch, and `shuffled` gives a batch in another order
 * - `laggingHead` answers as if the chain were `blocks` shorter, and `wrongChain` as if it were another one
 */
export type Misbehaviour =
  | 'hang'
  | 'slow'
  | 'truncated'
  | 'empty'
  | 'htmlPage'
  | 'wrongId'
  | 'stringId'
  | 'nullId'
  | 'missingId'
  | 'doubledId'
  | 'missing'
  | 'shuffled'
  | 'laggingHead'
  | 'wrongChain'

/** An answer as it goes over the wire. In a body that is no text, the id 1 stands for the id of the call. */
export interface FaultAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** Which calls fail, and how. */
export interface FaultOptions {
  /** Only calls of this method, or of these. @default every method */
  readonly method?: string | readonly string[] | undefined
  /** How many calls fail: a number from 1, or Infinity until `heal()`. @default 1 */
  readonly times?: number | undefined
  /** How many such calls are answered before the first one fails. @default 0 */
  readonly after?: number | undefined
  /** In whose words. @default the node's personality */
  readonly personality?: Personality | undefined
  /** The HTTP status, where one fits as well as another: of `quota`, 402, 403 or 429. */
  readonly status?: number | undefined
  /** Asks to wait so long, in milliseconds: as `retry-after`, in whole seconds, and where Keyrail's service is spoken, exactly. */
  readonly retryAfterMs?: number | undefined
  /** The message of the error, in place of the dialect's own. */
  readonly message?: string | undefined
  /** The data of the error: of `revert`, what it was reverted with. */
  readonly data?: unknown
  /** Of `slow`: how late, in milliseconds. @default 1_000 */
  readonly delayMs?: number | undefined
  /** Of `laggingHead`: by how many blocks. @default 3 */
  readonly blocks?: number | undefined
}

/** A fault that is to happen. */
export interface Fault {
  readonly kind: FaultKind | Misbehaviour | FaultAnswer
  readonly options: FaultOptions
}

/** The name of a fault, for the list of calls. */
export function faultName({ kind }: Fault): string {
  return typeof kind === 'string' ? kind : `status ${kind.status}`
}
