import type { BlockIdentifier } from './blockTag.ts'
import type { CallFrame } from './callTrace.ts'
import type { Erc7562Frame } from './erc7562Trace.ts'
import type { Hash } from './hex.ts'
import type { OpcodeTrace } from './opcodeTrace.ts'
import type { PrestateDiff, PrestateTrace } from './prestateTrace.ts'
import type {
  AnyPrestateTracerOptions,
  CallTracerOptions,
  Erc7562TracerOptions,
  FlatCallTracerOptions,
  FourByteTrace,
  FourByteTracerOptions,
  MuxTrace,
  MuxTracerOptions,
  NoopTrace,
  NoopTracerOptions,
  OpcodeTracerOptions,
  PrestateDiffTracerOptions,
  PrestateTracerOptions,
  TraceCallOverrides,
  TraceConfig,
} from './tracer.ts'
import type { FlatTrace } from './traceRecord.ts'
import type { TransactionRequest } from './transactionRequest.ts'

/** Traces of one transaction; what comes back depends on the tracer. */
export interface DebugTransactionTraceMethods {
  /** Runs a transaction of the chain again: every opcode step. Source: execution-apis, debug. */
  debug_traceTransaction(hash: Hash, config?: OpcodeTracerOptions): Promise<OpcodeTrace>
  /** Runs a transaction of the chain again: calls, nested. Source: geth docs, built-in tracers. */
  debug_traceTransaction(hash: Hash, config: CallTracerOptions): Promise<CallFrame>
  /** Runs a transaction of the chain again: the accounts touched, before the run. Source: geth docs, built-in tracers. */
  debug_traceTransaction(hash: Hash, config: PrestateTracerOptions): Promise<PrestateTrace>
  /** Runs a transaction of the chain again: the changes, before and after. Source: geth docs, built-in tracers. */
  debug_traceTransaction(hash: Hash, config: PrestateDiffTracerOptions): Promise<PrestateDiff>
  /** Runs a transaction of the chain again: the accounts touched, in either mode. Source: geth docs, built-in tracers. */
  debug_traceTransaction(hash: Hash, config: AnyPrestateTracerOptions): Promise<PrestateTrace | PrestateDiff>
  /** Runs a transaction of the chain again: function selectors, counted. Source: geth docs, built-in tracers. */
  debug_traceTransaction(hash: Hash, config: FourByteTracerOptions): Promise<FourByteTrace>
  /** Runs a transaction of the chain again: nothing. Source: geth docs, built-in tracers. */
  debug_traceTransaction(hash: Hash, config: NoopTracerOptions): Promise<NoopTrace>
  /** Runs a transaction of the chain again: calls, flat. Source: geth docs, built-in tracers. */
  debug_traceTransaction(hash: Hash, config: FlatCallTracerOptions): Promise<FlatTrace[]>
  /** Runs a transaction of the chain again: the results of several tracers. Source: geth docs, built-in tracers. */
  debug_traceTransaction(hash: Hash, config: MuxTracerOptions): Promise<MuxTrace>
  /** Runs a transaction of the chain again: the data that the rules of ERC-7562 need. Source: geth, eth/tracers/native/erc7562.go. */
  debug_traceTransaction(hash: Hash, config: Erc7562TracerOptions): Promise<Erc7562Frame>
  /** Runs a transaction of the chain again: the result of a custom tracer. Source: execution-apis, `TraceConfig`. */
  debug_traceTransaction(hash: Hash, config?: TraceConfig): Promise<unknown>

  /** Runs a call: every opcode step. Source: geth, debug_traceCall. */
  debug_traceCall(
    transaction: TransactionRequest,
    block: BlockIdentifier,
    config?: OpcodeTracerOptions & TraceCallOverrides,
  ): Promise<OpcodeTrace>
  /** Runs a call: calls, nested. Source: geth, debug_traceCall; geth docs, built-in tracers. */
  debug_traceCall(
    transaction: TransactionRequest,
    block: BlockIdentifier,
    config: CallTracerOptions & TraceCallOverrides,
  ): Promise<CallFrame>
  /** Runs a call: the accounts touched, before the run. Source: geth, debug_traceCall; geth docs, built-in tracers. */
  debug_traceCall(
    transaction: TransactionRequest,
    block: BlockIdentifier,
    config: PrestateTracerOptions & TraceCallOverrides,
  ): Promise<PrestateTrace>
  /** Runs a call: the changes, before and after. Source: geth, debug_traceCall; geth docs, built-in tracers. */
  debug_traceCall(
    transaction: TransactionRequest,
    block: BlockIdentifier,
    config: PrestateDiffTracerOptions & TraceCallOverrides,
  ): Promise<PrestateDiff>
  /** Runs a call: the accounts touched, in either mode. Source: geth, debug_traceCall; geth docs, built-in tracers. */
  debug_traceCall(
    transaction: TransactionRequest,
    block: BlockIdentifier,
    config: AnyPrestateTracerOptions & TraceCallOverrides,
  ): Promise<PrestateTrace | PrestateDiff>
  /** Runs a call: function selectors, counted. Source: geth, debug_traceCall; geth docs, built-in tracers. */
  debug_traceCall(
    transaction: TransactionRequest,
    block: BlockIdentifier,
    config: FourByteTracerOptions & TraceCallOverrides,
  ): Promise<FourByteTrace>
  /** Runs a call: nothing. Source: geth, debug_traceCall; geth docs, built-in tracers. */
  debug_traceCall(
    transaction: TransactionRequest,
    block: BlockIdentifier,
    config: NoopTracerOptions & TraceCallOverrides,
  ): Promise<NoopTrace>
  /** Runs a call: calls, flat. Source: geth, debug_traceCall; geth docs, built-in tracers. */
  debug_traceCall(
    transaction: TransactionRequest,
    block: BlockIdentifier,
    config: FlatCallTracerOptions & TraceCallOverrides,
  ): Promise<FlatTrace[]>
  /** Runs a call: the results of several tracers. Source: geth, debug_traceCall; geth docs, built-in tracers. */
  debug_traceCall(
    transaction: TransactionRequest,
    block: BlockIdentifier,
    config: MuxTracerOptions & TraceCallOverrides,
  ): Promise<MuxTrace>
  /** Runs a call: the data that the rules of ERC-7562 need. Source: geth, debug_traceCall; geth, eth/tracers/native/erc7562.go. */
  debug_traceCall(
    transaction: TransactionRequest,
    block: BlockIdentifier,
    config: Erc7562TracerOptions & TraceCallOverrides,
  ): Promise<Erc7562Frame>
  /** Runs a call: the result of a custom tracer. Source: geth, debug_traceCall. */
  debug_traceCall(
    transaction: TransactionRequest,
    block: BlockIdentifier,
    config?: TraceConfig & TraceCallOverrides,
  ): Promise<unknown>
}
