import { describe, expectTypeOf, test } from 'vitest'
import type { EthereumRpc } from './ethereumRpc.ts'
import type { Hex } from './hex.ts'
import type { MethodName, Result } from './request.ts'

declare const node: EthereumRpc

type Loose<T> = unknown extends T ? true : never

/** The methods whose widest result is `any` or `unknown`. */
type LooseMethods = { [M in MethodName]: Loose<Result<EthereumRpc, M>> extends never ? never : M }[MethodName]

describe('EthereumRpc', () => {
  test('no result is any or unknown, but those of custom tracers', () => {
    expectTypeOf<LooseMethods>().toEqualTypeOf<'debug_traceTransaction' | 'debug_traceCall'>()
  })

  test('a block whose state is read is a number, a tag, a hash or an EIP-1898 object', () => {
    expectTypeOf(node.eth_getBalance('0x1')).resolves.toEqualTypeOf<Hex>()
    expectTypeOf(node.eth_getBalance('0x1', 'safe')).resolves.toEqualTypeOf<Hex>()
    void node.eth_getBalance('0x1', { blockHash: '0x1', requireCanonical: true })
    void node.eth_call({ to: '0x1' }, { blockNumber: '0x1' })
    // @ts-expect-error a number and a hash at once
    void node.eth_getBalance('0x1', { blockHash: '0x1', blockNumber: '0x1' })
    // @ts-expect-error a number is no block on the wire
    void node.eth_getBalance('0x1', 1)
  })

  test('a request may have undefined fields', () => {
    const gas: `0x${string}` | undefined = undefined
    expectTypeOf(node.eth_call({ to: '0x1', gas })).resolves.toEqualTypeOf<Hex>()
  })

  test('subscriptions are left out', () => {
    expectTypeOf<'eth_subscribe'>().not.toExtend<MethodName>()
    // @ts-expect-error they need a connection that stays open
    void node.eth_subscribe
  })
})
