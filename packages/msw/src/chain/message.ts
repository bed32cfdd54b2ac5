import type { Address, Bytes, Hex } from '@keyrail/core'
import type { LogEntry } from './logEntry.ts'
import type { StateValue } from './worldState.ts'

/** The block that a call or transaction runs in. */
export interface MessageBlock {
  readonly number: number
  /** In seconds since 1970. */
  readonly timestamp: number
  /** In wei. */
  readonly baseFee: bigint
}

/** What is run: a transaction, or a call that changes nothing. */
export interface Message {
  readonly from: Address
  readonly to: Address
  readonly value: bigint
  readonly input: Bytes
  readonly block: MessageBlock
  /** Whether it is a transaction, whose changes stay. */
  readonly isTransaction: boolean
  readonly read: (key: string) => StateValue
  readonly write: (key: string, value: StateValue) => void
}

/** How it went. */
export interface Outcome {
  readonly output: Bytes
  readonly logs: readonly LogEntry[]
  /** Above what the transaction costs by itself. */
  readonly gas: number
  /** Set where it was reverted: the reason, for people. */
  readonly reverted?: { readonly reason: string; readonly data: Hex }
}

/** Runs what stands at an address. */
export type Execute = (message: Message) => Outcome
