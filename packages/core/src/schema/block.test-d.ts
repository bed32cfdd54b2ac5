import { describe, expectTypeOf, test } from 'vitest'
import type {
  RpcBlockHeader,
  RpcBlockWithHashes,
  RpcBlockWithTransactions,
  RpcPendingBlockHeader,
  RpcPendingBlockWithHashes,
  RpcPendingBlockWithTransactions,
} from './block.ts'
import type { BlockNumberOrTag } from './blockTag.ts'
import type { EthereumRpc } from './ethereumRpc.ts'
import type { Hex } from './hex.ts'

declare const node: EthereumRpc
declare const hydrated: boolean
declare const block: BlockNumberOrTag

describe('blocks', () => {
  test('the second param decides between hashes and whole transactions', () => {
    expectTypeOf(node.eth_getBlockByNumber('latest', false)).resolves.toEqualTypeOf<RpcBlockWithHashes | null>()
    expectTypeOf(node.eth_getBlockByNumber('0x1', true)).resolves.toEqualTypeOf<RpcBlockWithTransactions | null>()
    expectTypeOf(node.eth_getBlockByNumber('safe', hydrated)).resolves.toEqualTypeOf<
      RpcBlockWithHashes | RpcBlockWithTransactions | null
    >()
    expectTypeOf(node.eth_getBlockByHash('0x1', false)).resolves.toEqualTypeOf<RpcBlockWithHashes | null>()
    expectTypeOf(node.eth_getBlockByHash('0x1', true)).resolves.toEqualTypeOf<RpcBlockWithTransactions | null>()
    expectTypeOf(node.eth_getBlockByHash('0x1', hydrated)).resolves.toEqualTypeOf<
      RpcBlockWithHashes | RpcBlockWithTransactions | null
    >()
  })

  test('a block that may be pending has fields that may be null', () => {
    expectTypeOf(node.eth_getBlockByNumber('pending', false)).resolves.toEqualTypeOf<RpcPendingBlockWithHashes | null>()
    expectTypeOf(
      node.eth_getBlockByNumber(block, true),
    ).resolves.toEqualTypeOf<RpcPendingBlockWithTransactions | null>()
    expectTypeOf(node.eth_getBlockByNumber(block, hydrated)).resolves.toEqualTypeOf<
      RpcPendingBlockWithHashes | RpcPendingBlockWithTransactions | null
    >()
    expectTypeOf<RpcPendingBlockWithHashes['hash']>().toEqualTypeOf<Hex | null>()
    expectTypeOf<RpcBlockWithHashes['hash']>().toEqualTypeOf<Hex>()
    expectTypeOf(node.eth_getHeaderByNumber('latest')).resolves.toEqualTypeOf<RpcBlockHeader | null>()
    expectTypeOf(node.eth_getHeaderByNumber('pending')).resolves.toEqualTypeOf<RpcPendingBlockHeader | null>()
  })

  test('every tag is accepted, and nothing else that is not a block', () => {
    expectTypeOf<Parameters<EthereumRpc['eth_getBlockByNumber']>[0]>().toEqualTypeOf<
      Hex | 'earliest' | 'finalized' | 'safe' | 'latest' | 'pending'
    >()
    // @ts-expect-error a number is no block on the wire
    void node.eth_getBlockByNumber(1, false)
    // @ts-expect-error no such tag
    void node.eth_getBlockByNumber('newest', false)
    // @ts-expect-error the second param is not optional
    void node.eth_getBlockByNumber('latest')
  })

  test('numbers are rejected where the protocol has hex', () => {
    type Block = RpcBlockWithTransactions
    expectTypeOf<Block['number']>().toEqualTypeOf<Hex>()
    // @ts-expect-error a number in place of hex
    void ({ number: 1 } satisfies Partial<Block>)
    // @ts-expect-error a string that is not hex
    void ({ number: '1' } satisfies Partial<Block>)
    // @ts-expect-error a number in place of hex, in an array
    void ({ uncles: [1] } satisfies Partial<Block>)
    // @ts-expect-error a field that no node sends
    void ({ height: '0x1' } satisfies Partial<Block>)
  })
})
