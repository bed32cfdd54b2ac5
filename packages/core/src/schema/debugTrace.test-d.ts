import { describe, expectTypeOf, test } from 'vitest'
import type { CallFrame } from './callTrace.ts'
import type { Erc7562Frame } from './erc7562Trace.ts'
import type { EthereumRpc } from './ethereumRpc.ts'
import type { OpcodeTrace } from './opcodeTrace.ts'
import type { PrestateDiff, PrestateTrace } from './prestateTrace.ts'
import type { FourByteTrace, MuxTrace, NoopTrace, TracedTransaction } from './tracer.ts'
import type { FlatTrace } from './traceRecord.ts'

declare const node: EthereumRpc
declare const traced: TracedTransaction<CallFrame>
declare const diffMode: boolean
declare const tracer: string

describe('debug_traceTransaction', () => {
  test('without a tracer, the result has every opcode step', () => {
    expectTypeOf(node.debug_traceTransaction('0x1')).resolves.toEqualTypeOf<OpcodeTrace>()
    expectTypeOf(
      node.debug_traceTransaction('0x1', { enableMemory: true, limit: 3 }),
    ).resolves.toEqualTypeOf<OpcodeTrace>()
    expectTypeOf(node.debug_traceTransaction('0x1', { tracer: '' })).resolves.toEqualTypeOf<OpcodeTrace>()
  })

  test('a built-in tracer has its own result type', () => {
    expectTypeOf(
      node.debug_traceTransaction('0x1', { tracer: 'callTracer', tracerConfig: { withLog: true } }),
    ).resolves.toEqualTypeOf<CallFrame>()
    expectTypeOf(
      node.debug_traceTransaction('0x1', { tracer: 'callTracer', timeout: '10s', disableStack: true }),
    ).resolves.toEqualTypeOf<CallFrame>()
    expectTypeOf(node.debug_traceTransaction('0x1', { tracer: '4byteTracer' })).resolves.toEqualTypeOf<FourByteTrace>()
    expectTypeOf(node.debug_traceTransaction('0x1', { tracer: 'noopTracer' })).resolves.toEqualTypeOf<NoopTrace>()
    expectTypeOf(node.debug_traceTransaction('0x1', { tracer: 'flatCallTracer' })).resolves.toEqualTypeOf<FlatTrace[]>()
    expectTypeOf(node.debug_traceTransaction('0x1', { tracer: 'erc7562Tracer' })).resolves.toEqualTypeOf<Erc7562Frame>()
    expectTypeOf(
      node.debug_traceTransaction('0x1', { tracer: 'muxTracer', tracerConfig: { callTracer: null } }),
    ).resolves.toEqualTypeOf<MuxTrace>()
  })

  test('prestateTracer returns a state or a difference, depending on its mode', () => {
    expectTypeOf(
      node.debug_traceTransaction('0x1', { tracer: 'prestateTracer' }),
    ).resolves.toEqualTypeOf<PrestateTrace>()
    expectTypeOf(
      node.debug_traceTransaction('0x1', { tracer: 'prestateTracer', tracerConfig: { diffMode: false } }),
    ).resolves.toEqualTypeOf<PrestateTrace>()
    expectTypeOf(
      node.debug_traceTransaction('0x1', { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }),
    ).resolves.toEqualTypeOf<PrestateDiff>()
    expectTypeOf(
      node.debug_traceTransaction('0x1', { tracer: 'prestateTracer', tracerConfig: { diffMode } }),
    ).resolves.toEqualTypeOf<PrestateTrace | PrestateDiff>()
  })

  test('only the result of an unknown tracer is unknown', () => {
    expectTypeOf(node.debug_traceTransaction('0x1', { tracer: '{ data: [] }' })).resolves.toBeUnknown()
    expectTypeOf(node.debug_traceTransaction('0x1', { tracer })).resolves.toBeUnknown()
    // @ts-expect-error no such option
    void node.debug_traceTransaction('0x1', { disableGas: true })
  })
})

describe('debug_traceCall', () => {
  test('accepts overrides besides the tracer', () => {
    expectTypeOf(
      node.debug_traceCall({ to: '0x1' }, 'latest', {
        tracer: 'callTracer',
        stateOverrides: { '0x1': { nonce: '0x1' } },
      }),
    ).resolves.toEqualTypeOf<CallFrame>()
    expectTypeOf(node.debug_traceCall({}, 'latest', { txIndex: '0x1' })).resolves.toEqualTypeOf<OpcodeTrace>()
    // @ts-expect-error the overrides are those of a call only
    void node.debug_traceTransaction('0x1', { tracer: 'callTracer', stateOverrides: {} })
  })
})

describe('traces of a block', () => {
  test('each transaction has the shape of its tracer', () => {
    expectTypeOf(node.debug_traceBlockByNumber('latest')).resolves.toEqualTypeOf<TracedTransaction<OpcodeTrace>[]>()
    expectTypeOf(node.debug_traceBlockByHash('0x1', { tracer: 'callTracer' })).resolves.toEqualTypeOf<
      TracedTransaction<CallFrame>[]
    >()
    expectTypeOf(
      node.debug_traceBlock('0xf9', { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }),
    ).resolves.toEqualTypeOf<TracedTransaction<PrestateDiff>[]>()
    expectTypeOf(node.debug_traceBadBlock('0x1', { tracer: 'mine' })).resolves.toEqualTypeOf<
      TracedTransaction<unknown>[]
    >()
  })

  test('a transaction that could not be traced has an error in place of a result', () => {
    expectTypeOf(traced.result).toEqualTypeOf<CallFrame | undefined>()
    if (traced.error === undefined) expectTypeOf(traced.result).toEqualTypeOf<CallFrame>()
  })
})
