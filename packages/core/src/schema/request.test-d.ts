import { describe, expectTypeOf, test } from 'vitest'
import type { CallOptions } from './callOptions.ts'
import type {
  RpcBlockWithHashes,
  RpcBlockWithTransactions,
  RpcPendingBlockWithHashes,
  RpcPendingBlockWithTransactions,
} from './block.ts'
import type { CallFrame } from './callTrace.ts'
import type { EthereumRpc } from './ethereumRpc.ts'
import type { Hex } from './hex.ts'
import type { RpcLog } from './log.ts'
import type { OpcodeTrace } from './opcodeTrace.ts'
import type { PrestateDiff, PrestateTrace } from './prestateTrace.ts'
import type { MethodName, Params, RequestFn, Result } from './request.ts'
import type { FourByteTrace, MuxTrace, TracedTransaction } from './tracer.ts'

interface MyMethods {
  my_score(address: Hex): Promise<number>
  my_names(names: string[], more?: { tags: string[] }): Promise<'names'>
  my_lists(names: readonly string[]): Promise<'plain'>
  my_lists(names: readonly string[], sorted: true): Promise<'sorted'>
  my_loose(names: string[]): Promise<'plain'>
  my_loose(names: string[], sorted: true): Promise<'sorted'>
  my_either(): Promise<'none'>
  my_either(only: string): Promise<'one'>
  my_either(first: string, second: boolean): Promise<'two'>
}

declare const request: RequestFn
declare const mine: RequestFn<EthereumRpc & MyMethods>
declare const hydrated: boolean

describe('request', () => {
  test('is exact over the overloads of blocks', () => {
    const method = 'eth_getBlockByNumber'
    expectTypeOf(request({ method, params: ['latest', false] })).resolves.toEqualTypeOf<RpcBlockWithHashes | null>()
    expectTypeOf(request({ method, params: ['0x1', true] })).resolves.toEqualTypeOf<RpcBlockWithTransactions | null>()
    expectTypeOf(request({ method, params: ['latest', hydrated] })).resolves.toEqualTypeOf<
      RpcBlockWithHashes | RpcBlockWithTransactions | null
    >()
    expectTypeOf(
      request({ method, params: ['pending', false] }),
    ).resolves.toEqualTypeOf<RpcPendingBlockWithHashes | null>()
    expectTypeOf(request({ method, params: ['pending', hydrated] })).resolves.toEqualTypeOf<
      RpcPendingBlockWithHashes | RpcPendingBlockWithTransactions | null
    >()
  })

  test('is exact over the overloads of tracers', () => {
    const method = 'debug_traceTransaction'
    expectTypeOf(request({ method, params: ['0x1'] })).resolves.toEqualTypeOf<OpcodeTrace>()
    expectTypeOf(request({ method, params: ['0x1', { limit: 5 }] })).resolves.toEqualTypeOf<OpcodeTrace>()
    expectTypeOf(request({ method, params: ['0x1', { tracer: 'callTracer' }] })).resolves.toEqualTypeOf<CallFrame>()
    expectTypeOf(
      request({ method, params: ['0x1', { tracer: 'callTracer', tracerConfig: { withLog: true } }] }),
    ).resolves.toEqualTypeOf<CallFrame>()
    expectTypeOf(
      request({ method, params: ['0x1', { tracer: 'prestateTracer' }] }),
    ).resolves.toEqualTypeOf<PrestateTrace>()
    expectTypeOf(
      request({ method, params: ['0x1', { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }] }),
    ).resolves.toEqualTypeOf<PrestateDiff>()
    expectTypeOf(
      request({ method, params: ['0x1', { tracer: '4byteTracer' }] }),
    ).resolves.toEqualTypeOf<FourByteTrace>()
    expectTypeOf(
      request({ method, params: ['0x1', { tracer: 'muxTracer', tracerConfig: {} }] }),
    ).resolves.toEqualTypeOf<MuxTrace>()
    expectTypeOf(
      request({ method: 'debug_traceBlockByHash', params: ['0x1', { tracer: 'callTracer' }] }),
    ).resolves.toEqualTypeOf<TracedTransaction<CallFrame>[]>()
  })

  test('returns unknown for a custom tracer', () => {
    expectTypeOf(
      request({ method: 'debug_traceTransaction', params: ['0x1', { tracer: 'mine' }] }),
    ).resolves.toBeUnknown()
  })

  test('accepts params from constants and variables', () => {
    const constant = ['latest', false] as const
    const variable: [block: 'latest', hydrated: boolean] = ['latest', false]
    const method = 'eth_getBlockByNumber'
    expectTypeOf(request({ method, params: constant })).resolves.toEqualTypeOf<RpcBlockWithHashes | null>()
    expectTypeOf(request({ method, params: variable })).resolves.toEqualTypeOf<
      RpcBlockWithHashes | RpcBlockWithTransactions | null
    >()
    expectTypeOf(
      request({ method: 'eth_getLogs', params: [{ address: ['0x1'], topics: [null, ['0x2']] }] }),
    ).resolves.toEqualTypeOf<RpcLog[]>()
  })

  test('requires params unless the method can be called without them', () => {
    expectTypeOf(request({ method: 'eth_blockNumber' })).resolves.toEqualTypeOf<Hex>()
    expectTypeOf(request({ method: 'eth_blockNumber', params: [] })).resolves.toEqualTypeOf<Hex>()
    expectTypeOf(request({ method: 'eth_newPendingTransactionFilter' })).resolves.toEqualTypeOf<Hex>()
    expectTypeOf(request({ method: 'eth_getCode', params: ['0x1'] })).resolves.toEqualTypeOf<Hex>()
    // @ts-expect-error an address is needed
    void request({ method: 'eth_getCode' })
    // @ts-expect-error an address is needed
    void request({ method: 'eth_getCode', params: [] })
  })

  test('rejects an unknown method', () => {
    expectTypeOf<'eth_getBlock'>().not.toExtend<MethodName>()
    // @ts-expect-error no such method
    void request({ method: 'eth_getBlock', params: ['latest', false] })
    // @ts-expect-error a method of my own that was not declared
    void request({ method: 'my_score', params: ['0x1'] })
  })

  test('rejects wrong params', () => {
    expectTypeOf(request({ method: 'eth_getCode', params: ['0x1', 'safe'] })).resolves.toEqualTypeOf<Hex>()
    // @ts-expect-error not a boolean
    void request({ method: 'eth_getBlockByNumber', params: ['latest', 1] })
    // @ts-expect-error a number is no block on the wire
    void request({ method: 'eth_getBlockByNumber', params: [1, true] })
    // @ts-expect-error one too few
    void request({ method: 'eth_getBlockByNumber', params: ['latest'] })
    // @ts-expect-error one too many
    void request({ method: 'eth_getBlockByNumber', params: ['latest', true, true] })
    // @ts-expect-error no such field
    void request({ method: 'eth_getLogs', params: [{ fromBlok: '0x1' }] })
    // @ts-expect-error params are a list
    void request({ method: 'eth_getCode', params: { address: '0x1' } })
  })

  test('accepts call options, and no others', () => {
    const options: CallOptions = { timeoutMs: 1000, signal: new AbortController().signal }
    expectTypeOf(request({ method: 'eth_chainId' }, options)).resolves.toEqualTypeOf<Hex>()
    // @ts-expect-error no such option
    void request({ method: 'eth_chainId' }, { timeout: 1000 })
  })

  test('is as exact for methods of the user', () => {
    expectTypeOf(mine({ method: 'my_score', params: ['0x1'] })).resolves.toEqualTypeOf<number>()
    expectTypeOf(mine({ method: 'my_names', params: [['a', 'b'], { tags: ['c'] }] })).resolves.toEqualTypeOf<'names'>()
    expectTypeOf(mine({ method: 'my_either' })).resolves.toEqualTypeOf<'none'>()
    expectTypeOf(mine({ method: 'my_either', params: [] })).resolves.toEqualTypeOf<'none'>()
    expectTypeOf(mine({ method: 'my_either', params: ['a'] })).resolves.toEqualTypeOf<'one'>()
    expectTypeOf(mine({ method: 'my_either', params: ['a', true] })).resolves.toEqualTypeOf<'two'>()
    expectTypeOf(mine({ method: 'eth_blockNumber' })).resolves.toEqualTypeOf<Hex>()
    // @ts-expect-error an address is needed
    void mine({ method: 'my_score', params: [] })
  })

  test('is exact over overloads with lists if the lists are readonly, otherwise it returns the union', () => {
    expectTypeOf(mine({ method: 'my_lists', params: [['a']] })).resolves.toEqualTypeOf<'plain'>()
    expectTypeOf(mine({ method: 'my_lists', params: [['a'], true] })).resolves.toEqualTypeOf<'sorted'>()
    expectTypeOf(mine({ method: 'my_loose', params: [['a'], true] })).resolves.toEqualTypeOf<'plain' | 'sorted'>()
  })

  test('is as exact for a schema that has the user’s methods only', () => {
    const own = undefined as unknown as RequestFn<MyMethods>
    expectTypeOf(own({ method: 'my_score', params: ['0x1'] })).resolves.toEqualTypeOf<number>()
    // @ts-expect-error not in this schema
    void own({ method: 'eth_blockNumber' })
  })
})

describe('MethodName, Params and Result', () => {
  test('describe one method', () => {
    expectTypeOf<'eth_call'>().toExtend<MethodName>()
    expectTypeOf<Params<EthereumRpc, 'eth_blockNumber'>>().toEqualTypeOf<readonly []>()
    expectTypeOf<readonly ['0x1', boolean]>().toExtend<Params<EthereumRpc, 'eth_getBlockByHash'>>()
    expectTypeOf<Result<EthereumRpc, 'eth_getBlockByHash'>>().toEqualTypeOf<
      RpcBlockWithHashes | RpcBlockWithTransactions | null
    >()
    expectTypeOf<
      Result<EthereumRpc, 'eth_getBlockByHash', ['0x1', true]>
    >().toEqualTypeOf<RpcBlockWithTransactions | null>()
    expectTypeOf<Result<MyMethods, 'my_either', []>>().toEqualTypeOf<'none'>()
  })
})
