import type { Hex } from '@keyrail/core'

/** Which logs to return: contracts and topics. */
export interface LogQuery {
  /** A contract, or several of them. @default every contract */
  readonly address?: Hex | readonly Hex[] | undefined
  /** By position: a topic, several allowed topics, or null for any topic. @default any topics */
  readonly topics?: readonly (Hex | readonly Hex[] | null)[] | undefined
}
