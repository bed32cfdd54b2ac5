import type { Bytes, Quantity } from './hex.ts'

/** A write to memory. */
export interface VmMemoryWrite {
  data: Bytes
  off: number
}

/** A write to storage. */
export interface VmStorageWrite {
  key: Quantity
  val: Quantity
}

/** The effect of a step. */
export interface VmStepEffect {
  mem: VmMemoryWrite | null
  /** The values that it pushed on the stack. */
  push: Quantity[]
  store: VmStorageWrite | null
  /** The gas that was left. */
  used: number
}

/** One step. The counts are numbers, not hex. */
export interface VmStep {
  cost: number
  /** `null` if the step failed. */
  ex: VmStepEffect | null
  pc: number
  /** The call that the step made. */
  sub: VmTrace | null
  /** The name of the opcode. Erigon and reth. */
  op?: string | null
  /** The step's place among all others. Erigon and reth. */
  idx?: string | null
}

/** Every step of a call. Source: OpenEthereum docs, trace module, `vmTrace`; Erigon and reth for `op` and `idx`. */
export interface VmTrace {
  code: Bytes
  ops: VmStep[]
}
