import type { BlockIdentifier, BlockNumberOrTag } from './blockTag.ts'
import type { Address, Bytes, Hash, Quantity } from './hex.ts'
import type { StateDiff } from './stateDiff.ts'
import type { LocalizedTrace, TraceRecord } from './traceRecord.ts'
import type { TransactionRequest } from './transactionRequest.ts'
import type { VmTrace } from './vmTrace.ts'

/** The parts of a trace to return: the calls, every step, the changes of state. Source: OpenEthereum docs, trace module. */
export type TraceType = 'trace' | 'vmTrace' | 'stateDiff'

/** The trace of a run. Parts that were not requested are `null` or empty. Source: OpenEthereum docs, trace module. */
export interface TraceResult {
  output: Bytes
  trace: TraceRecord[] | null
  stateDiff: StateDiff | null
  vmTrace: VmTrace | null
  /** Erigon sends it. */
  transactionHash?: Hash | null
}

/** The trace of a transaction in a block. Source: OpenEthereum docs, trace module. */
export interface TransactionTraceResult extends TraceResult {
  transactionHash: Hash
}

/** Which records are wanted. Source: OpenEthereum docs, trace_filter; Erigon and reth for `mode`. */
export interface TraceFilter {
  fromBlock?: BlockNumberOrTag | undefined
  toBlock?: BlockNumberOrTag | undefined
  fromAddress?: readonly Address[] | null | undefined
  toAddress?: readonly Address[] | null | undefined
  /** How the two address lists go together. @default 'union' */
  mode?: 'union' | 'intersection' | undefined
  /** How many records to leave out at the start. */
  after?: number | undefined
  /** The most records to return. */
  count?: number | undefined
}

/** Traces in the shape of OpenEthereum. */
export interface TraceMethods {
  /** All records of a block. Source: OpenEthereum docs, trace_block. */
  trace_block(block: BlockIdentifier): Promise<LocalizedTrace[] | null>
  /** The records that match. Source: OpenEthereum docs, trace_filter. */
  trace_filter(filter: TraceFilter): Promise<LocalizedTrace[]>
  /** The record at a place among those of a transaction. Source: OpenEthereum docs, trace_get. */
  trace_get(hash: Hash, traceAddress: readonly Quantity[]): Promise<LocalizedTrace | null>
  /** All records of a transaction. Source: OpenEthereum docs, trace_transaction. */
  trace_transaction(hash: Hash): Promise<LocalizedTrace[] | null>
  /** Runs a call and traces it. Source: OpenEthereum docs, trace_call. */
  trace_call(
    transaction: TransactionRequest,
    types: readonly TraceType[],
    block?: BlockIdentifier,
  ): Promise<TraceResult>
  /** Runs calls, each on the state that the last one left, and traces them. Source: OpenEthereum docs, trace_callMany. */
  trace_callMany(
    calls: readonly (readonly [transaction: TransactionRequest, types: readonly TraceType[]])[],
    block?: BlockIdentifier,
  ): Promise<TraceResult[]>
  /** Runs a signed transaction without sending it and traces it. Source: OpenEthereum docs, trace_rawTransaction. */
  trace_rawTransaction(transaction: Bytes, types: readonly TraceType[], block?: BlockIdentifier): Promise<TraceResult>
  /** Runs a transaction of the chain again and traces it. Source: OpenEthereum docs, trace_replayTransaction. */
  trace_replayTransaction(hash: Hash, types: readonly TraceType[]): Promise<TraceResult>
  /** Runs all transactions of a block again and traces them. Source: OpenEthereum docs, trace_replayBlockTransactions. */
  trace_replayBlockTransactions(
    block: BlockIdentifier,
    types: readonly TraceType[],
  ): Promise<TransactionTraceResult[] | null>
}
