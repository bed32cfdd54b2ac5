import type { Address, Bytes, Hash, Quantity } from './hex.ts'

/** The input of a call. */
export interface CallAction {
  callType: 'call' | 'callcode' | 'delegatecall' | 'staticcall' | 'authcall' | 'none'
  from: Address
  to: Address
  gas: Quantity
  input: Bytes
  value: Quantity
}

/** The outcome of a call. */
export interface CallOutcome {
  gasUsed: Quantity
  output: Bytes
}

/** The input of a contract creation. */
export interface CreateAction {
  from: Address
  gas: Quantity
  init: Bytes
  value: Quantity
  creationMethod?: 'create' | 'create2' | 'none'
}

/** The outcome of a contract creation. */
export interface CreateOutcome {
  gasUsed: Quantity
  /** Absent if the creation failed. */
  address?: Address
  code: Bytes
}

/** The effects of a self-destruct. */
export interface SuicideAction {
  address: Address
  refundAddress: Address
  balance: Quantity
}

/** A reward for a block or an uncle, before the merge. */
export interface RewardAction {
  author: Address
  rewardType: 'block' | 'uncle' | 'emptyStep' | 'external'
  value: Quantity
}

/** The position of a record in the trace. `traceAddress` is the path of call indexes. Both are numbers, not hex. */
export interface TracePosition {
  subtraces: number
  traceAddress: number[]
  /** Why it failed; `result` is then absent or `null`. */
  error?: string
}

/** A call. */
export interface CallTrace extends TracePosition {
  type: 'call'
  action: CallAction
  result?: CallOutcome | null
}

/** A contract creation. */
export interface CreateTrace extends TracePosition {
  type: 'create'
  action: CreateAction
  result?: CreateOutcome | null
}

/** A self-destruct. */
export interface SuicideTrace extends TracePosition {
  type: 'suicide' | 'selfdestruct'
  action: SuicideAction
  result?: null
}

/** A reward. */
export interface RewardTrace extends TracePosition {
  type: 'reward'
  action: RewardAction
  result?: null
}

/** One record of a trace; `type` distinguishes the kinds. Source: OpenEthereum docs, trace module. */
export type TraceRecord = CallTrace | CreateTrace | SuicideTrace | RewardTrace

/** The position of a record in the chain, as numbers, not hex. A reward has no transaction. */
export interface TraceLocation {
  blockHash: Hash
  blockNumber: number
  transactionHash?: Hash | null
  transactionPosition?: number | null
}

/** A record of a trace and its place in the chain. Source: OpenEthereum docs, trace module. */
export type LocalizedTrace = TraceLocation & TraceRecord

/** The place of a record that may not be in the chain. */
export interface FlatTraceLocation {
  blockHash?: Hash | null
  blockNumber?: number | null
  transactionHash?: Hash | null
  transactionPosition?: number | null
}

/** A record as `flatCallTracer` makes it. Source: geth, eth/tracers/native/call_flat.go. */
export type FlatTrace = FlatTraceLocation & TraceRecord
