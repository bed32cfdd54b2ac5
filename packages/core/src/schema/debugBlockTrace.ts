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
  /** Runs a block again: the accounts touched, as they were before. Source: geth docs, built-in tracers. */
  debug_traceBlockByNumber(
    block: BlockNumberOrTag,
    config: PrestateTracerOptions,
  ): Promise<TracedTransaction<PrestateTrace>[]>
  /** Runs a block again: what was changed, before and after. Source: geth docs, built-in tracers. */
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
  /** Runs a block again: what the rules of ERC-7562 ask. Source: geth, eth/tracers/native/erc7562.go. */
  debug_traceBlockByNumber(
    block: BlockNumberOrTag,
    config: Erc7562TracerOptions,
  ): Promise<TracedTransaction<Erc7562Frame>[]>
  /** Runs a block again: whatever a tracer of your own makes. Source: execution-apis, `TraceConfig`. */
  debug_traceBlockByNumber(block: BlockNumberOrTag, config?: TraceConfig): Promise<TracedTransaction<unknown>[]>

  /** Runs a block again: every opcode step. Source: execution-apis, debug. */
  debug_traceBlockByHash(hash: Hash, config?: OpcodeTracerOptions): Promise<TracedTransaction<OpcodeTrace>[]>
  /** Runs a block again: calls, nested. Source: geth docs, built-in tracers. */
  debug_traceBlockByHash(hash: Hash, config: CallTracerOptions): Promise<TracedTransaction<CallFrame>[]>
  /** Runs a block again: the accounts touched, as they were before. Source: geth docs, built-in tracers. */
  debug_traceBlockByHash(hash: Hash, config: PrestateTracerOptions): Promise<TracedTransaction<PrestateTrace>[]>
  /** Runs a block again: what was changed, before and after. Source: geth docs, built-in tracers. */
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
  /** Runs a block again: what the rules of ERC-7562 ask. Source: geth, eth/tracers/native/erc7562.go. */
  debug_traceBlockByHash(hash: Hash, config: Erc7562TracerOptions): Promise<TracedTransaction<Erc7562Frame>[]>
  /** Runs a block again: whatever a tracer of your own makes. Source: execution-apis, `TraceConfig`. */
  debug_traceBlockByHash(hash: Hash, config?: TraceConfig): Promise<TracedTransaction<unknown>[]>

  /** Runs a block that is given whole, RLP encoded: every opcode step. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config?: OpcodeTracerOptions): Promise<TracedTransaction<OpcodeTrace>[]>
  /** Runs a block that is given whole, RLP encoded: calls, nested. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config: CallTracerOptions): Promise<TracedTransaction<CallFrame>[]>
  /** Runs a block that is given whole, RLP encoded: the accounts touched, as they were before. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config: PrestateTracerOptions): Promise<TracedTransaction<PrestateTrace>[]>
  /** Runs a block that is given whole, RLP encoded: what was changed, before and after. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config: PrestateDiffTracerOptions): Promise<TracedTransaction<PrestateDiff>[]>
  /** Runs a block that is given whole, RLP encoded: the accounts touched, in either mode. Source: geth, debug_traceBlock. */
  debug_traceBlock(
    block: Bytes,
    config: AnyPrestateTracerOptions,
  ): Promise<TracedTransaction<PrestateTrace | PrestateDiff>[]>
  /** Runs a block that is given whole, RLP encoded: function selectors, counted. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config: FourByteTracerOptions): Promise<TracedTransaction<FourByteTrace>[]>
  /** Runs a block that is given whole, RLP encoded: nothing. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config: NoopTracerOptions): Promise<TracedTransaction<NoopTrace>[]>
  /** Runs a block that is given whole, RLP encoded: calls, flat. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config: FlatCallTracerOptions): Promise<TracedTransaction<FlatTrace[]>[]>
  /** Runs a block that is given whole, RLP encoded: the results of several tracers. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config: MuxTracerOptions): Promise<TracedTransaction<MuxTrace>[]>
  /** Runs a block that is given whole, RLP encoded: what the rules of ERC-7562 ask. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config: Erc7562TracerOptions): Promise<TracedTransaction<Erc7562Frame>[]>
  /** Runs a block that is given whole, RLP encoded: whatever a tracer of your own makes. Source: geth, debug_traceBlock. */
  debug_traceBlock(block: Bytes, config?: TraceConfig): Promise<TracedTransaction<unknown>[]>

  /** Runs a block again that the node refused: every opcode step. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config?: OpcodeTracerOptions): Promise<TracedTransaction<OpcodeTrace>[]>
  /** Runs a block again that the node refused: calls, nested. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config: CallTracerOptions): Promise<TracedTransaction<CallFrame>[]>
  /** Runs a block again that the node refused: the accounts touched, as they were before. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config: PrestateTracerOptions): Promise<TracedTransaction<PrestateTrace>[]>
  /** Runs a block again that the node refused: what was changed, before and after. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config: PrestateDiffTracerOptions): Promise<TracedTransaction<PrestateDiff>[]>
  /** Runs a block again that the node refused: the accounts touched, in either mode. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(
    hash: Hash,
    config: AnyPrestateTracerOptions,
  ): Promise<TracedTransaction<PrestateTrace | PrestateDiff>[]>
  /** Runs a block again that the node refused: function selectors, counted. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config: FourByteTracerOptions): Promise<TracedTransaction<FourByteTrace>[]>
  /** Runs a block again that the node refused: nothing. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config: NoopTracerOptions): Promise<TracedTransaction<NoopTrace>[]>
  /** Runs a block again that the node refused: calls, flat. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config: FlatCallTracerOptions): Promise<TracedTransaction<FlatTrace[]>[]>
  /** Runs a block again that the node refused: the results of several tracers. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config: MuxTracerOptions): Promise<TracedTransaction<MuxTrace>[]>
  /** Runs a block again that the node refused: what the rules of ERC-7562 ask. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config: Erc7562TracerOptions): Promise<TracedTransaction<Erc7562Frame>[]>
  /** Runs a block again that the node refused: whatever a tracer of your own makes. Source: geth, debug_traceBadBlock. */
  debug_traceBadBlock(hash: Hash, config?: TraceConfig): Promise<TracedTransaction<unknown>[]>
}
