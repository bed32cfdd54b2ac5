import type { RpcErrorObject } from '@keyrail/core'

/** A call that the node was asked, and how it answered. */
export interface SeenCall {
  readonly method: string
  readonly params: readonly unknown[]
  /** Whether it came in a batch. */
  readonly batch: boolean
  readonly outcome: 'result' | 'error' | 'fault'
  /** Of an `error`: what it said. */
  readonly error?: RpcErrorObject
  /** Of a `fault`: its kind, or the status of the answer that was given to `fail`. */
  readonly fault?: string
}
