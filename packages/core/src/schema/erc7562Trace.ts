import type { CallFrameFields } from './callTrace.ts'
import type { Address, Bytes, Hash, Quantity } from './hex.ts'

/** Values that were read, by slot. */
export interface SlotReads {
  [slot: Hash]: Hash[]
}

/** How often, by slot. */
export interface SlotCounts {
  [slot: Hash]: number
}

/** The storage that a frame touched. */
export interface AccessedSlots {
  reads: SlotReads
  writes: SlotCounts
  transientReads: SlotCounts
  transientWrites: SlotCounts
}

/** How often, by opcode (hex). */
export interface OpcodeCounts {
  [opcode: Quantity]: number
}

/** The size of a contract's code and the opcode (a number) that looked at it. */
export interface ContractSize {
  contractSize: number
  opcode: number
}

/** Code sizes by contract. */
export interface ContractSizes {
  [address: Address]: ContractSize
}

/** A call with the data that the rules of ERC-7562 need. Source: geth, eth/tracers/native/erc7562.go; ERC-7562. */
export interface Erc7562Frame extends CallFrameFields {
  accessedSlots: AccessedSlots
  extCodeAccessInfo: Address[]
  usedOpcodes: OpcodeCounts
  contractSize: ContractSizes
  outOfGas: boolean
  /** The inputs that the whole transaction hashed; in the outermost frame only. */
  keccak?: Bytes[]
  calls?: Erc7562Frame[]
}
