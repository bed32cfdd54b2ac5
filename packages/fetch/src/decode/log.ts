import type { Hex } from '@keyrail/core'

/** A log of a mined transaction, decoded. Members that are not declared here are as the node sent them. */
export interface Log {
  readonly address: Hex
  /** The event's signature first, unless it is anonymous. Up to four, of 32 bytes each. */
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly blockHash: Hex
  readonly blockNumber: bigint
  /** In seconds since 1970. Not every node sends it. */
  readonly blockTimestamp: bigint | undefined
  readonly transactionHash: Hex
  readonly transactionIndex: number
  /** Its index among the logs of its block. */
  readonly logIndex: number
  /** Whether a reorganization removed it. */
  readonly removed: boolean
}
