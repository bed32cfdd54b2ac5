import type { EthereumRpc, Hex } from '@keyrail/core'
import { describe, expectTypeOf, test } from 'vitest'
import {
  createClient,
  getBalance,
  getBlock,
  getBlockNumber,
  getChainId,
  getLogs,
  getTransaction,
  getTransactionCount,
  waitForTransactionReceipt,
} from '../index.ts'
import type {
  Block,
  BlockInput,
  Log,
  PendingBlock,
  Transaction,
  TransactionReceipt,
  TransactionType,
} from '../index.ts'

const client = createClient({ url: 'http://127.0.0.1:8545' })
declare const flag: boolean
declare const block: BlockInput
declare const hash: Hex

describe('getBlock', () => {
  test('gives hashes or transactions, as asked', () => {
    expectTypeOf(getBlock(client)).toEqualTypeOf<Promise<Block | null>>()
    expectTypeOf(getBlock(client, {})).toEqualTypeOf<Promise<Block | null>>()
    expectTypeOf(getBlock(client, { block: 1n })).toEqualTypeOf<Promise<Block | null>>()
    expectTypeOf(getBlock(client, { block: hash, transactions: false })).toEqualTypeOf<Promise<Block | null>>()
    expectTypeOf(getBlock(client, { transactions: true })).toEqualTypeOf<Promise<Block<Transaction> | null>>()
    expectTypeOf(getBlock(client, { block: 'safe', transactions: true })).toEqualTypeOf<
      Promise<Block<Transaction> | null>
    >()
    expectTypeOf(getBlock(client, { transactions: flag })).toEqualTypeOf<Promise<Block | Block<Transaction> | null>>()
  })

  test('lets a pending one have nulls', () => {
    expectTypeOf(getBlock(client, { block: 'pending' })).toEqualTypeOf<Promise<PendingBlock | null>>()
    expectTypeOf(getBlock(client, { block: 'pending', transactions: true })).toEqualTypeOf<
      Promise<PendingBlock<Transaction> | null>
    >()
    expectTypeOf(getBlock(client, { block })).toEqualTypeOf<
      Promise<Block | Block<Transaction> | PendingBlock | PendingBlock<Transaction> | null>
    >()
    expectTypeOf<PendingBlock['number']>().toEqualTypeOf<bigint | null>()
    expectTypeOf<Block['number']>().toEqualTypeOf<bigint>()
    expectTypeOf<Block['transactions']>().toEqualTypeOf<readonly Hex[]>()
  })

  test('refuses what is no block', () => {
    expectTypeOf<BlockInput>().toEqualTypeOf<
      bigint | number | 'latest' | 'safe' | 'finalized' | 'earliest' | 'pending' | Hex
    >()
    // @ts-expect-error no such tag
    void getBlock(client, { block: 'newest' })
    // @ts-expect-error no such option
    void getBlock(client, { number: 1n })
  })
})

describe('reads', () => {
  test('give decoded values', () => {
    expectTypeOf(getBlockNumber(client)).toEqualTypeOf<Promise<bigint>>()
    expectTypeOf(getChainId(client)).toEqualTypeOf<Promise<number>>()
    expectTypeOf(getBalance(client, { address: hash })).toEqualTypeOf<Promise<bigint>>()
    expectTypeOf(getTransactionCount(client, { address: hash, block: 1 })).toEqualTypeOf<Promise<number>>()
    expectTypeOf(getTransaction(client, { hash })).toEqualTypeOf<Promise<Transaction | null>>()
    expectTypeOf(getLogs(client, { blockHash: hash })).toEqualTypeOf<Promise<Log[]>>()
    expectTypeOf(waitForTransactionReceipt(client, { hash })).toEqualTypeOf<Promise<TransactionReceipt>>()
  })

  test('need nothing but the methods that they call', () => {
    expectTypeOf(getBlockNumber({ eth_blockNumber: async () => '0x1' })).toEqualTypeOf<Promise<bigint>>()
    void getBlockNumber(createClient<Pick<EthereumRpc, 'eth_blockNumber'>>({ url: 'http://127.0.0.1:8545' }))
    // @ts-expect-error this client has other methods
    void getBlockNumber(createClient<Pick<EthereumRpc, 'eth_chainId'>>({ url: 'http://127.0.0.1:8545' }))
  })

  test('take a client with methods of the user, and with options bound', () => {
    interface MyMethods {
      my_method(): Promise<string>
    }
    const mine = createClient<EthereumRpc & MyMethods>({ url: 'http://127.0.0.1:8545' })
    expectTypeOf(getBlock(mine.with({ timeoutMs: 1 }))).toEqualTypeOf<Promise<Block | null>>()
    expectTypeOf(waitForTransactionReceipt(mine, { hash })).toEqualTypeOf<Promise<TransactionReceipt>>()
  })

  test('ask for a range or for one block', () => {
    expectTypeOf(getLogs(client, { fromBlock: 1n, toBlock: 'finalized' })).toEqualTypeOf<Promise<Log[]>>()
    // @ts-expect-error one or the other
    void getLogs(client, { blockHash: hash, fromBlock: 1n })
    // @ts-expect-error a pending block has no place in a range
    void getLogs(client, { toBlock: 'pending' })
  })

  test('tell transactions apart by type', () => {
    expectTypeOf<Transaction['type']>().toEqualTypeOf<TransactionType>()
    const told = (transaction: Transaction): void => {
      if (transaction.type === 'eip4844') expectTypeOf(transaction.maxFeePerBlobGas).toEqualTypeOf<bigint>()
      if (transaction.type === 'eip7702')
        expectTypeOf(transaction.authorizationList[0]?.nonce).toEqualTypeOf<bigint | undefined>()
      if (transaction.type === 'legacy') expectTypeOf(transaction.gasPrice).toEqualTypeOf<bigint>()
      if (transaction.type === 'other') expectTypeOf(transaction['mint']).toBeUnknown()
      else expectTypeOf(transaction.v).toEqualTypeOf<bigint | undefined>()
      // @ts-expect-error not every type has it
      void transaction.maxFeePerGas
    }
    void told
  })
})
