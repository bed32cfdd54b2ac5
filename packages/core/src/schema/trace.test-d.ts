import { describe, expectTypeOf, test } from 'vitest'
import type { EthereumRpc } from './ethereumRpc.ts'
import type { Hex } from './hex.ts'
import type { Delta } from './stateDiff.ts'
import type { TraceResult } from './trace.ts'
import type { CreateAction, LocalizedTrace } from './traceRecord.ts'

declare const node: EthereumRpc
declare const record: LocalizedTrace
declare const delta: Delta<Hex>

describe('trace_ methods', () => {
  test('the type of a record determines its action', () => {
    if (record.type === 'create') expectTypeOf(record.action).toEqualTypeOf<CreateAction>()
    if (record.type === 'call') expectTypeOf(record.action.callType).toExtend<string>()
    expectTypeOf(record.blockNumber).toEqualTypeOf<number>()
    // @ts-expect-error a reward has no gas
    if (record.type === 'reward') void record.action.gas
  })

  test('the sign of a change determines its shape', () => {
    expectTypeOf<'='>().toExtend<typeof delta>()
    if (delta !== '=' && '*' in delta) expectTypeOf(delta['*'].to).toEqualTypeOf<Hex>()
  })

  test('only the three kinds of trace are accepted', () => {
    expectTypeOf(node.trace_call({ to: '0x1' }, ['trace', 'stateDiff'])).resolves.toEqualTypeOf<TraceResult>()
    expectTypeOf(node.trace_callMany([[{}, ['vmTrace']]], 'latest')).resolves.toEqualTypeOf<TraceResult[]>()
    // @ts-expect-error no such kind
    void node.trace_call({ to: '0x1' }, ['opcodes'])
  })
})
