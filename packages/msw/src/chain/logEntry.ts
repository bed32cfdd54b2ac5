import type { Address, Bytes, Hash } from '@keyrail/core'

/** A log as a contract emits it, without its place in a block. */
export interface LogEntry {
  readonly address: Address
  readonly topics: readonly Hash[]
  readonly data: Bytes
}
