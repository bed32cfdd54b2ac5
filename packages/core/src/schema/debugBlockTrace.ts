import type { BlockNumberOrTag } from './blockTag.ts'
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
  TracedTransaction,
  TraceConfig,
} from './tracer.ts'
import type { FlatTrace } from './traceRecord.ts'

/** Traces of all transactions of a block; what comes back depends on the tracer. */
export interface DebugBlockTraceMethods {
  /** Runs a block again: every opcode step. Source: execution-apis, debug. */
  debug_traceBlockByNumber(
    block: BlockNumberOrTag,
    config?: OpcodeTracerOptions,
  ): Promise<TracedTransaction<OpcodeTrace>[]>
  /** Runs a block again: calls, nested. Source: geth docs, built-in tracers. */
  debug_traceBlockByNumber(block: BlockNumberOrTag, config: CallTracerOptions): Promise<TracedTransaction<CallFrame>[]>
  /** Runs a block again: the accounts touched, before the run. Source: geth docs, built-in tracers. */
  debug_traceBlockByNumber(
    block: BlockNumberOrTag,
    config: PrestateTracerOptions,
  ): Promise<TracedTransaction<PrestateTrace>[]>
  /** Runs a block again: the changes, before and after. Source: geth docs, built-in tracers. */
  debug_traceBlockByNumber(
    block: BlockNumberOrTag,
    config: PrestateDiffTracerOptions,
  ): Promise<TracedTransaction<PrestateDiff>[]>
  /** Runs a block again: the accounts touched, in either mode. Source: geth docs, built-in tracers. */
  debug_traceBlockByNumber(
    block: BlockNumberOrTag,
    config: AnyPrestateTracerOptions,
  ): Promise<TracedTransaction<PrestateTrace | PrestateDiff>[]>
  /** Runs a block again: function selectors, counted. Source: geth docs, built-in tracers. */
  debug_traceBlockByNumber(
    block: BlockNumberOrTag,
    config: FourByteTracerOptions,
  ): Promise<TracedTransaction<FourByteTrace>[]>
  /** Runs a block again: nothing. Source: geth docs, built-in tracers. */
  debug_traceBlockByNumber(block: BlockNumberOrTag, config: NoopTracerOptions): Promise<TracedTransaction<NoopTrace>[]>
  /** Runs a block again: calls, flat. Source: geth docs, built-in tracers. */
  debug_traceBlockByNumber(
    block: BlockNumberOrTag,
    config: FlatCallTracerOptions,
  ): Promise<TracedTransaction<FlatTrace[]>[]>
  /** Runs a block again: the results of several tracers. Source: geth docs, built-in tracers. */
  debug_traceBlockByNumber(block: BlockNumberOrTag, config: MuxTracerOptions): Promise<TracedTransaction<MuxTrace>[]>
  /** Runs a block again: the data that the rules of ERC-7562 need. Source: geth, eth/tracers/native/erc7562.go. */
  debug_traceBlockByNumber(
    block: BlockNumberOrTag,
    config: Erc7562TracerOptions,
  ): Promise<TracedTransaction<Erc7562Frame>[]>
  /** Runs a block again: the result of a custom tracer. Source: execution-apis, `TraceConfig`. */
  debug_traceBlockByNumber(block: BlockNumberOrTag, config?: TraceConfig): Promise<TracedTransaction<unknown>[]>

  /** Runs a block again: every opcode step. Source: execution-apis, debug. */
  debug_traceBlockByHash(hash: Hash, config?: OpcodeTracerOptions): Promise<TracedTransaction<OpcodeTrace>[]>
  /** Runs a block again: calls, nested. Source: geth docs, built-in tracers. */
  debug_traceBlockByHash(hash: Hash, config: CallTracerOptions): Promise<TracedTransaction<CallFrame>[]>
  /** Runs a block again: the accounts touched, before the run. Source: geth docs, built-in tracers. */
  debug_traceBlockByHash(hash: Hash, config: PrestateTracerOptions): Promise<TracedTransaction<PrestateTrace>[]>
  /** Runs a block again: the changes, before and after. Source: geth docs, built-in tracers. */
  debug_traceBlockByHash(hash: Hash, config: PrestateDiffTracerOptions): Promise<TracedTransaction<PrestateDiff>[]>
  /** Runs a block again: the accounts touched, in either mode. Source: geth docs, built-in tracers. */
  debug_traceBlockByHash(
    hash: Hash,
    config: AnyPrestateTracerOptions,
  ): Promise<TracedTransaction<PrestateTrace | PrestateDiff>[]>
  /** Runs a block again: function selectors, counted. Source: geth docs, built-in tracers. */
  debug_traceBlockByHash(hash: Hash, config: FourByteTracerOptions): Promise<TracedTransaction<FourByteTrace>[]>
  /** Runs a block again: nothing. Source: geth docs, built-in tracers. */
  debug_traceBlockByHash(hash: Hash, config: NoopTracerOptions): Promise<TracedTransaction<NoopTrace>[]>
  /** Runs a block again: calls, flat. Source: geth docs, built-in tracers. */
  debug_traceBlockByHash(hash: Hash, config: FlatCallTracerOptions): Promise<TracedTransaction<FlatTrace[]>[]>
  /** Runs a block again: the results of several tracers. Source: geth docs, built-in tracers. */
  debug_traceBlockByHash(hash: Hash, config: MuxTracerOptions): Promise<TracedTransaction<MuxTrace>[]>
  /** Runs a block again: the data that the rules of ERC-7562 need. Source: geth, eth/tracers/native/erc7562.go. */
  debug_traceBlockByHash(hash: Hash, config: Erc7562TracerOptions): Promise<TracedTransaction<Erc7562Frame>[]>
  /** Runs a block again: the result of a custom tracer. Source: execution-apis, `TraceConfig`. */
  debug_traceBlockByHash(hash: Hash, config?: TraceConfig): Promise<TracedTransaction<unknown>[]>

  /** Runs an RLP-encoded block: every opcode step. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config?: OpcodeTracerOptions): Promise<TracedTransaction<OpcodeTrace>[]>
  /** Runs an RLP-encoded block: calls, nested. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config: CallTracerOptions): Promise<TracedTransaction<CallFrame>[]>
  /** Runs an RLP-encoded block: the accounts touched, before the run. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config: PrestateTracerOptions): Promise<TracedTransaction<PrestateTrace>[]>
  /** Runs an RLP-encoded block: the changes, before and after. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config: PrestateDiffTracerOptions): Promise<TracedTransaction<PrestateDiff>[]>
  /** Runs an RLP-encoded block: the accounts touched, in either mode. Source: geth, debug_traceBlock. */
  debug_traceBlock(
    block: Bytes,
    config: AnyPrestateTracerOptions,
  ): Promise<TracedTransaction<PrestateTrace | PrestateDiff>[]>
  /** Runs an RLP-encoded block: function selectors, counted. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config: FourByteTracerOptions): Promise<TracedTransaction<FourByteTrace>[]>
  /** Runs an RLP-encoded block: nothing. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config: NoopTracerOptions): Promise<TracedTransaction<NoopTrace>[]>
  /** Runs an RLP-encoded block: calls, flat. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config: FlatCallTracerOptions): Promise<TracedTransaction<FlatTrace[]>[]>
  /** Runs an RLP-encoded block: the results of several tracers. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config: MuxTracerOptions): Promise<TracedTransaction<MuxTrace>[]>
  /** Runs an RLP-encoded block: the data that the rules of ERC-7562 need. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config: Erc7562TracerOptions): Promise<TracedTransaction<Erc7562Frame>[]>
  /** Runs an RLP-encoded block: the result of a custom tracer. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config?: TraceConfig): Promise<TracedTransaction<unknown>[]>

  /** Runs a rejected block again: every opcode step. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config?: OpcodeTracerOptions): Promise<TracedTransaction<OpcodeTrace>[]>
  /** Runs a rejected block again: calls, nested. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config: CallTracerOptions): Promise<TracedTransaction<CallFrame>[]>
  /** Runs a rejected block again: the accounts touched, before the run. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config: PrestateTracerOptions): Promise<TracedTransaction<PrestateTrace>[]>
  /** Runs a rejected block again: the changes, before and after. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config: PrestateDiffTracerOptions): Promise<TracedTransaction<PrestateDiff>[]>
  /** Runs a rejected block again: the accounts touched, in either mode. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(
    hash: Hash,
    config: AnyPrestateTracerOptions,
  ): Promise<TracedTransaction<PrestateTrace | PrestateDiff>[]>
  /** Runs a rejected block again: function selectors, counted. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config: FourByteTracerOptions): Promise<TracedTransaction<FourByteTrace>[]>
  /** Runs a rejected block again: nothing. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config: NoopTracerOptions): Promise<TracedTransaction<NoopTrace>[]>
  /** Runs a rejected block again: calls, flat. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config: FlatCallTracerOptions): Promise<TracedTransaction<FlatTrace[]>[]>
  /** Runs a rejected block again: the results of several tracers. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config: MuxTracerOptions): Promise<TracedTransaction<MuxTrace>[]>
  /** Runs a rejected block again: the data that the rules of ERC-7562 need. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config: Erc7562TracerOptions): Promise<TracedTransaction<Erc7562Frame>[]>
  /** Runs a rejected block again: the result of a custom tracer. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config?: TraceConfig): Promise<TracedTransaction<unknown>[]>
}
