import { describe, expectTypeOf, test } from 'vitest'
import type { CallFrame } from './callTrace.ts'
import type { EthereumRpc } from './ethereumRpc.ts'
import type { OpcodeTrace } from './opcodeTrace.ts'
import type { PrestateDiff } from './prestateTrace.ts'
import type { TracedTransaction } from './tracer.ts'

declare const node: EthereumRpc
declare const traced: TracedTransaction<CallFrame>

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
