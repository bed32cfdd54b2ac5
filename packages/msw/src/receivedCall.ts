import type { RpcErrorObject } from '@keyrail/core'

/** A JSON-RPC call that the mock node received, and its outcome. */
export interface ReceivedCall {
  readonly method: string
  readonly params: readonly unknown[]
  /** Whether the call was part of a batch. */
  readonly batch: boolean
  /** `fault` if the call met a fault from `fail`. */
  readonly outcome: 'result' | 'error' | 'fault'
  /** The JSON-RPC error; set if `outcome` is `error`. */
  readonly error?: RpcErrorObject
  /** The kind of the fault, or `status <number>` for a custom response; set if `outcome` is `fault`. */
  readonly fault?: string
}
