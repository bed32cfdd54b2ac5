import type { CallFrame } from './callTrace.ts'
import type { Erc7562Frame } from './erc7562Trace.ts'
import type { Hex, Quantity } from './hex.ts'
import type { BlockOverrides, StateOverrides } from './override.ts'
import type { PrestateDiff, PrestateTrace } from './prestateTrace.ts'
import type { FlatTrace } from './traceRecord.ts'

/** How to trace, whichever tracer is used. Source: execution-apis, `TraceConfig`; geth, debug namespace, for `reexec`. */
export interface TraceOptions {
  /** How long the node may trace, as Go writes it: `5s`, `300ms`. @default '5s' */
  timeout?: string | undefined
  /** How many blocks the node may run again to get at missing state. */
  reexec?: number | undefined
  /** Opcode steps only. */
  disableStorage?: boolean | undefined
  /** Opcode steps only. */
  disableStack?: boolean | undefined
  /** Opcode steps only. @default false */
  enableMemory?: boolean | undefined
  /** Opcode steps only. @default false */
  enableReturnData?: boolean | undefined
  /** Opcode steps only: the most steps to return; 0 is no limit. */
  limit?: number | undefined
  /** Opcode steps only: print to the node's own log. */
  debug?: boolean | undefined
}

/** No tracer: every opcode step. */
export interface OpcodeTracerOptions extends TraceOptions {
  tracer?: '' | undefined
  tracerConfig?: object | undefined
}

/** Options of `callTracer`. Source: geth docs, built-in tracers. */
export interface CallTracerConfig {
  /** Leave the inner calls out. */
  onlyTopCall?: boolean | undefined
  /** Add the logs of each call. */
  withLog?: boolean | undefined
}

/** Calls, nested. */
export interface CallTracerOptions extends TraceOptions {
  tracer: 'callTracer'
  tracerConfig?: CallTracerConfig | undefined
}

/** Options of `prestateTracer`, the mode aside. Source: geth docs, built-in tracers. */
export interface PrestateTracerFields {
  disableCode?: boolean | undefined
  disableStorage?: boolean | undefined
  /** Keep accounts that are empty. */
  includeEmpty?: boolean | undefined
}

/** The state before. */
export interface PrestateTracerConfig extends PrestateTracerFields {
  diffMode?: false | undefined
}

/** The state before and after. */
export interface PrestateDiffTracerConfig extends PrestateTracerFields {
  diffMode: true
}

/** The state before, or before and after. */
export interface AnyPrestateTracerConfig extends PrestateTracerFields {
  diffMode?: boolean | undefined
}

/** The accounts touched, as they were before. */
export interface PrestateTracerOptions extends TraceOptions {
  tracer: 'prestateTracer'
  tracerConfig?: PrestateTracerConfig | undefined
}

/** The changes, before and after. */
export interface PrestateDiffTracerOptions extends TraceOptions {
  tracer: 'prestateTracer'
  tracerConfig: PrestateDiffTracerConfig
}

/** The accounts touched, in either mode. */
export interface AnyPrestateTracerOptions extends TraceOptions {
  tracer: 'prestateTracer'
  tracerConfig?: AnyPrestateTracerConfig | undefined
}

/** Function selectors, counted. */
export interface FourByteTracerOptions extends TraceOptions {
  tracer: '4byteTracer'
  tracerConfig?: object | undefined
}

/** Options of a tracer without a result, for measurements. */
export interface NoopTracerOptions extends TraceOptions {
  tracer: 'noopTracer'
  tracerConfig?: object | undefined
}

/** Options of `flatCallTracer`. Source: geth, eth/tracers/native/call_flat.go. */
export interface FlatCallTracerConfig {
  convertParityErrors?: boolean | undefined
  includePrecompiles?: boolean | undefined
}

/** Calls, flat, in the shape of `trace_transaction`. */
export interface FlatCallTracerOptions extends TraceOptions {
  tracer: 'flatCallTracer' | 'parityTracer'
  tracerConfig?: FlatCallTracerConfig | undefined
}

/** Options of `erc7562Tracer`. Source: geth, eth/tracers/native/erc7562.go. */
export interface Erc7562TracerConfig {
  /** @default 3 */
  stackTopItemsSize?: number | undefined
  ignoredOpcodes?: readonly Quantity[] | undefined
  withLog?: boolean | undefined
}

/** The data that the rules of ERC-7562 need about a transaction. */
export interface Erc7562TracerOptions extends TraceOptions {
  tracer: 'erc7562Tracer'
  tracerConfig?: Erc7562TracerConfig | undefined
}

/** The tracers that `muxTracer` runs, each with its own options. Source: geth docs, built-in tracers. */
export interface MuxTracerConfig {
  callTracer?: CallTracerConfig | null | undefined
  prestateTracer?: AnyPrestateTracerConfig | null | undefined
  '4byteTracer'?: object | null | undefined
  noopTracer?: object | null | undefined
  flatCallTracer?: FlatCallTracerConfig | null | undefined
  erc7562Tracer?: Erc7562TracerConfig | null | undefined
}

/** Several tracers in one run. */
export interface MuxTracerOptions extends TraceOptions {
  tracer: 'muxTracer'
  tracerConfig: MuxTracerConfig
}

/** Any tracer: one by a name that is not known here, or written in JavaScript. Source: execution-apis, `TraceConfig`. */
export interface TraceConfig extends TraceOptions {
  tracer?: string | undefined
  tracerConfig?: object | undefined
}

/** Further options of `debug_traceCall`. Source: geth, debug_traceCall. */
export interface TraceCallOverrides {
  stateOverrides?: StateOverrides | undefined
  blockOverrides?: BlockOverrides | undefined
  /** Trace as if at this place in the block. */
  txIndex?: Quantity | undefined
}

/** How often each selector was called, by selector and argument size: `0x27dc297e-128`. Source: geth docs, built-in tracers, `4byteTracer`. */
export interface FourByteTrace {
  [selectorAndSize: Hex]: number
}

/** An empty object. Source: geth docs, built-in tracers, `noopTracer`. */
export interface NoopTrace {
  [key: string]: never
}

/** Results by tracer. Source: geth docs, built-in tracers, `muxTracer`. */
export interface MuxTrace {
  callTracer?: CallFrame
  prestateTracer?: PrestateTrace | PrestateDiff
  '4byteTracer'?: FourByteTrace
  noopTracer?: NoopTrace
  flatCallTracer?: FlatTrace[]
  erc7562Tracer?: Erc7562Frame
}

/** One transaction of a traced block. Source: execution-apis, `OpcodeBlockTransactionTrace`; geth for `error`. */
export type TracedTransaction<Trace> =
  | { txHash: Hex; result: Trace; error?: undefined }
  | { txHash: Hex; error: string; result?: undefined }
