import { describe, expectTypeOf, test } from 'vitest'
import type { AuthorizationList } from './authorization.ts'
import type { EthereumRpc } from './ethereumRpc.ts'
import type { Hash, Hex } from './hex.ts'
import type { RpcPendingTransaction, RpcTransaction } from './transaction.ts'

declare const node: EthereumRpc
declare const transaction: RpcTransaction
declare const anywhere: RpcTransaction | RpcPendingTransaction

describe('transactions', () => {
  test('a transaction is found in a block or in the pool', () => {
    expectTypeOf(node.eth_getTransactionByHash('0x1')).resolves.toEqualTypeOf<
      RpcTransaction | RpcPendingTransaction | null
    >()
    expectTypeOf(
      node.eth_getTransactionByBlockHashAndIndex('0x1', '0x0'),
    ).resolves.toEqualTypeOf<RpcTransaction | null>()
  })

  test('the block hash distinguishes a mined transaction from a pending one', () => {
    if (anywhere.blockHash) expectTypeOf(anywhere.blockNumber).toEqualTypeOf<Hex>()
    expectTypeOf(anywhere.blockNumber).toEqualTypeOf<Hex | null | undefined>()
  })

  test('the type determines the fields', () => {
    expectTypeOf(transaction.type).toEqualTypeOf<'0x0' | '0x1' | '0x2' | '0x3' | '0x4'>()
    if (transaction.type === '0x0') expectTypeOf(transaction.v).toEqualTypeOf<Hex>()
    if (transaction.type === '0x2') expectTypeOf(transaction.to).toEqualTypeOf<Hex | null>()
    if (transaction.type === '0x3') expectTypeOf(transaction.blobVersionedHashes).toEqualTypeOf<Hash[]>()
    if (transaction.type === '0x4') expectTypeOf(transaction.authorizationList).toEqualTypeOf<AuthorizationList>()
    // @ts-expect-error a legacy transaction has no list of authorizations
    if (transaction.type === '0x0') void transaction.authorizationList
  })
})
