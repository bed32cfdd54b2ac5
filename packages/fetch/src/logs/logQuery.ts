import type { Hex } from '@keyrail/core'

/** Which logs, whichever blocks they are in. */
export interface LogQuery {
  /** The contract, or any of several. @default every contract */
  readonly address?: Hex | readonly Hex[] | undefined
  /** By place: one topic, any of several, or null for whatever stands there. @default whatever stands there */
  readonly topics?: readonly (Hex | readonly Hex[] | null)[] | undefined
}
