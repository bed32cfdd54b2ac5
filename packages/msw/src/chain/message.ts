import type { Address, Hex } from '@keyrail/core'
import type { Bytes } from '@keyrail/core/schema'
import type { LogEntry } from './logEntry.ts'
import type { StateValue } from './worldState.ts'

/** The block in which a call or transaction runs. */
export interface MessageBlock {
  readonly number: number
  /** In seconds since 1970. */
  readonly timestamp: number
  /** In wei. */
  readonly baseFee: bigint
}

/** A transaction, or a call that changes nothing. */
export interface Message {
  readonly from: Address
  readonly to: Address
  readonly value: bigint
  readonly input: Bytes
  readonly block: MessageBlock
  /** Whether it is a transaction. Only transactions change the state. */
  readonly isTransaction: boolean
  readonly read: (key: string) => StateValue
  readonly write: (key: string, value: StateValue) => void
}

/** The outcome of a call or transaction. */
export interface Outcome {
  readonly output: Bytes
  readonly logs: readonly LogEntry[]
  /** The gas used in addition to the intrinsic gas. */
  readonly gas: number
  /** Set if it reverted. The reason is readable text. */
  readonly reverted?: { readonly reason: string; readonly data: Hex }
}

/** Runs the contract at the address of a message. */
export type Execute = (message: Message) => Outcome
