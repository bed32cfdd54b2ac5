import type { Bytes, Hash, Quantity } from './hex.ts'

/** The slots of the running contract that were read or written so far. */
export interface OpcodeStorage {
  [slot: Hash]: Hash
}

/** One step of the EVM. Gas is a number, not hex. Source: execution-apis, `StructLog`. */
export interface OpcodeStep {
  pc: number
  /** The name of the opcode. */
  op: string
  gas: number
  gasCost: number
  /** 1 in the outermost call. */
  depth: number
  error?: string
  refund?: number
  /** From the bottom up. */
  stack?: Quantity[]
  /** In pieces of 32 bytes. */
  memory?: Bytes[]
  returnData?: Bytes
  storage?: OpcodeStorage
}

/** Every step of a transaction: what a node returns where no tracer is named. Source: execution-apis, `OpcodeTransactionTrace`. */
export interface OpcodeTrace {
  /** All gas that the transaction used. */
  gas: number
  failed: boolean
  returnValue: Bytes
  structLogs: OpcodeStep[]
}
