import { describe, expectTypeOf, test } from 'vitest'
import type { BatchFn, BatchResults, Settled } from './batch.ts'
import type { RpcBlockWithHashes, RpcBlockWithTransactions } from './block.ts'
import type { EthereumRpc } from './ethereumRpc.ts'
import type { Hex, Quantity } from './hex.ts'

interface MyMethods {
  my_score(address: Hex): Promise<number>
}

declare const batch: BatchFn
declare const mine: BatchFn<EthereumRpc & MyMethods>
declare const address: Hex

describe('batch', () => {
  test('is exact for each call, over overloads too', async () => {
    const results = await batch([
      { method: 'eth_getBlockByNumber', params: ['latest', false] },
      { method: 'eth_getBlockByNumber', params: ['0x1', true] },
      { method: 'eth_gasPrice' },
      { method: 'eth_getBalance', params: [address, 'latest'] },
    ])
    expectTypeOf(results).toEqualTypeOf<
      [
        Settled<RpcBlockWithHashes | null>,
        Settled<RpcBlockWithTransactions | null>,
        Settled<Quantity>,
        Settled<Quantity>,
      ]
    >()
  })

  test('accepts lists that are created at run time', async () => {
    const calls = [address, address].map((of) => ({ method: 'eth_getBalance', params: [of, 'latest'] }) as const)
    expectTypeOf(await batch(calls)).toEqualTypeOf<Settled<Quantity>[]>()
  })

  test('accepts methods of a custom schema', async () => {
    const [score, gas] = await mine([{ method: 'my_score', params: [address] }, { method: 'eth_gasPrice' }])
    expectTypeOf(score).toEqualTypeOf<Settled<number>>()
    expectTypeOf(gas).toEqualTypeOf<Settled<Quantity>>()
  })

  test('rejects unknown methods, and wrong or missing params', () => {
    // @ts-expect-error there is no such method
    void batch([{ method: 'eth_blokNumber' }])
    // @ts-expect-error a balance is of an address
    void batch([{ method: 'eth_gasPrice' }, { method: 'eth_getBalance', params: [5, 'latest'] }])
    // @ts-expect-error params cannot be left out here
    void batch([{ method: 'eth_getBalance' }])
    // @ts-expect-error a list of calls
    void batch({ method: 'eth_gasPrice' })
    expectTypeOf(batch([])).resolves.toEqualTypeOf<[]>()
  })

  test('requires a check of the status before the reason is read', async () => {
    const [gas] = await batch([{ method: 'eth_gasPrice' }])
    // @ts-expect-error it may have failed
    void gas.value
    if (gas.status === 'rejected') expectTypeOf(gas.reason).toEqualTypeOf<unknown>()
    else expectTypeOf(gas.value).toEqualTypeOf<Quantity>()
  })

  test('has a type for its results', () => {
    expectTypeOf<BatchResults<EthereumRpc, [{ method: 'eth_gasPrice' }]>>().toEqualTypeOf<[Settled<Quantity>]>()
  })
})
