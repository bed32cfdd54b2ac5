import type { Address, Bytes, Hash, Quantity } from './hex.ts'

/** An event of a traced call. */
export interface TracedLog {
  address: Address
  topics: Hash[]
  data: Bytes
  /** How many calls the frame had made before it. */
  position: Quantity
  /** Its place among the logs of the block. Newer nodes send it. */
  index?: Quantity
}

/** The fields of a call that all call tracers return. */
export interface CallFrameFields {
  /** `CALL`, `DELEGATECALL`, `CREATE` and so on. */
  type: string
  from: Address
  gas: Quantity
  gasUsed: Quantity
  /** Absent if a creation failed. */
  to?: Address
  input: Bytes
  output?: Bytes
  value?: Quantity
  error?: string
  /** The reason of a revert, decoded from `Error(string)`. */
  revertReason?: string
  /** Of `callTracer` with `withLog` only. */
  logs?: TracedLog[]
}

/** A call with the calls it made. Source: geth docs, built-in tracers, `callTracer`. */
export interface CallFrame extends CallFrameFields {
  calls?: CallFrame[]
}
