import type { BlockIdentifier, BlockNumberOrTag } from './blockTag.ts'
import type { CallFrame } from './callTrace.ts'
import type { Erc7562Frame } from './erc7562Trace.ts'
import type { Bytes, Hash } from './hex.ts'
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
  TracedTransaction,
  TraceConfig,
} from './tracer.ts'
import type { FlatTrace } from './traceRecord.ts'
import type { TransactionRequest } from './transactionRequest.ts'

/** What a method returns that traces one transaction, or each transaction of a block. */
type Traced<Of extends 'transaction' | 'block', Trace> = Promise<
  Of extends 'block' ? TracedTransaction<Trace>[] : Trace
>

/**
 * A method that traces. What it returns depends on the tracer.
 * @typeParam Before - The params before the options.
 * @typeParam More - Further options.
 */
export interface TraceMethod<Of extends 'transaction' | 'block', Before extends unknown[], More = unknown> {
  /** Every opcode step. Source: execution-apis, debug. */
  (...params: [...before: Before, config?: OpcodeTracerOptions & More]): Traced<Of, OpcodeTrace>
  /** Calls, nested. Source: geth docs, built-in tracers. */
  (...params: [...before: Before, config: CallTracerOptions & More]): Traced<Of, CallFrame>
  /** The accounts touched, before the run. Source: geth docs, built-in tracers. */
  (...params: [...before: Before, config: PrestateTracerOptions & More]): Traced<Of, PrestateTrace>
  /** The changes, before and after. Source: geth docs, built-in tracers. */
  (...params: [...before: Before, config: PrestateDiffTracerOptions & More]): Traced<Of, PrestateDiff>
  /** The accounts touched, in either mode. Source: geth docs, built-in tracers. */
  (...params: [...before: Before, config: AnyPrestateTracerOptions & More]): Traced<Of, PrestateTrace | PrestateDiff>
  /** Function selectors, counted. Source: geth docs, built-in tracers. */
  (...params: [...before: Before, config: FourByteTracerOptions & More]): Traced<Of, FourByteTrace>
  /** Nothing. Source: geth docs, built-in tracers. */
  (...params: [...before: Before, config: NoopTracerOptions & More]): Traced<Of, NoopTrace>
  /** Calls, flat. Source: geth docs, built-in tracers. */
  (...params: [...before: Before, config: FlatCallTracerOptions & More]): Traced<Of, FlatTrace[]>
  /** The results of several tracers. Source: geth docs, built-in tracers. */
  (...params: [...before: Before, config: MuxTracerOptions & More]): Traced<Of, MuxTrace>
  /** The data that the rules of ERC-7562 need. Source: geth, eth/tracers/native/erc7562.go. */
  (...params: [...before: Before, config: Erc7562TracerOptions & More]): Traced<Of, Erc7562Frame>
  /** The result of a custom tracer. Source: execution-apis, `TraceConfig`. */
  (...params: [...before: Before, config?: TraceConfig & More]): Traced<Of, unknown>
}

/** Traces of transactions. */
export interface DebugTraceMethods {
  /** Runs a transaction of the chain again. Source: execution-apis, debug. */
  debug_traceTransaction: TraceMethod<'transaction', [hash: Hash]>
  /** Runs a call. Source: geth, debug_traceCall. */
  debug_traceCall: TraceMethod<
    'transaction',
    [transaction: TransactionRequest, block: BlockIdentifier],
    TraceCallOverrides
  >
  /** Runs a block again. Source: execution-apis, debug. */
  debug_traceBlockByNumber: TraceMethod<'block', [block: BlockNumberOrTag]>
  /** Runs a block again. Source: execution-apis, debug. */
  debug_traceBlockByHash: TraceMethod<'block', [hash: Hash]>
  /** Runs an RLP-encoded block. Source: geth, debug_traceBlock. */
  debug_traceBlock: TraceMethod<'block', [block: Bytes]>
  /** Runs a rejected block again. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock: TraceMethod<'block', [hash: Hash]>
}
