import type { EthereumRpc, Hex } from '@keyrail/core'
import { describe, expectTypeOf, test } from 'vitest'
import {
  call,
  createClient,
  getBalance,
  getBlock,
  getBlockNumber,
  getChainId,
  getGasPrice,
  getLogs,
  getTransaction,
  getTransactionCount,
  iterateLogs,
  waitForTransactionReceipt,
} from '../index.ts'
import type {
  Block,
  BlockInput,
  Log,
  LogIterator,
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
  test('returns hashes or transactions', () => {
    expectTypeOf(getBlock(client)).toEqualTypeOf<Promise<Block | null>>()
    expectTypeOf(getBlock(client, {})).toEqualTypeOf<Promise<Block | null>>()
    expectTypeOf(getBlock(client, { block: 1n })).toEqualTypeOf<Promise<Block | null>>()
    expectTypeOf(getBlock(client, { block: hash, includeTransactions: false })).toEqualTypeOf<Promise<Block | null>>()
    expectTypeOf(getBlock(client, { includeTransactions: true })).toEqualTypeOf<Promise<Block<Transaction> | null>>()
    expectTypeOf(getBlock(client, { block: 'safe', includeTransactions: true })).toEqualTypeOf<
      Promise<Block<Transaction> | null>
    >()
    expectTypeOf(getBlock(client, { includeTransactions: flag })).toEqualTypeOf<
      Promise<Block | Block<Transaction> | null>
    >()
  })

  test('returns a pending block with nulls', () => {
    expectTypeOf(getBlock(client, { block: 'pending' })).toEqualTypeOf<Promise<PendingBlock | null>>()
    expectTypeOf(getBlock(client, { block: 'pending', includeTransactions: true })).toEqualTypeOf<
      Promise<PendingBlock<Transaction> | null>
    >()
    expectTypeOf(getBlock(client, { block })).toEqualTypeOf<
      Promise<Block | Block<Transaction> | PendingBlock | PendingBlock<Transaction> | null>
    >()
    expectTypeOf<PendingBlock['number']>().toEqualTypeOf<bigint | null>()
    expectTypeOf<Block['number']>().toEqualTypeOf<bigint>()
    expectTypeOf<Block['transactions']>().toEqualTypeOf<readonly Hex[]>()
  })

  test('rejects an unknown tag or option', () => {
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
  test('return decoded values', () => {
    expectTypeOf(getBlockNumber(client)).toEqualTypeOf<Promise<bigint>>()
    expectTypeOf(getChainId(client)).toEqualTypeOf<Promise<number>>()
    expectTypeOf(getBalance(client, { address: hash })).toEqualTypeOf<Promise<bigint>>()
    expectTypeOf(getTransactionCount(client, { address: hash, block: 1 })).toEqualTypeOf<Promise<number>>()
    expectTypeOf(getTransaction(client, { hash })).toEqualTypeOf<Promise<Transaction | null>>()
    expectTypeOf(getLogs(client, { blockHash: hash })).toEqualTypeOf<Promise<Log[]>>()
    expectTypeOf(waitForTransactionReceipt(client, { hash })).toEqualTypeOf<Promise<TransactionReceipt>>()
  })

  test('need only the methods that they call', () => {
    expectTypeOf(getBlockNumber({ eth_blockNumber: async () => '0x1' })).toEqualTypeOf<Promise<bigint>>()
    const some: Pick<EthereumRpc, 'eth_blockNumber'> = createClient({ url: 'http://127.0.0.1:8545' })
    void getBlockNumber(some)
    const others: Pick<EthereumRpc, 'eth_chainId'> = createClient({ url: 'http://127.0.0.1:8545' })
    // @ts-expect-error this client has other methods
    void getBlockNumber(others)
  })

  test('accept a client with user-defined methods, and one with bound options', () => {
    interface MyMethods {
      my_method(): Promise<string>
    }
    const mine = createClient<MyMethods>({ url: 'http://127.0.0.1:8545' })
    expectTypeOf(getBlock(mine.with({ timeoutMs: 1 }))).toEqualTypeOf<Promise<Block | null>>()
    expectTypeOf(waitForTransactionReceipt(mine, { hash })).toEqualTypeOf<Promise<TransactionReceipt>>()
  })

  test('of logs take a range or one block', () => {
    expectTypeOf(getLogs(client, { fromBlock: 1n, toBlock: 'finalized' })).toEqualTypeOf<Promise<Log[]>>()
    // @ts-expect-error one or the other
    void getLogs(client, { blockHash: hash, fromBlock: 1n })
    // @ts-expect-error a range cannot end at a pending block
    void getLogs(client, { toBlock: 'pending' })
  })

  test('distinguish transactions by type', () => {
    expectTypeOf<Transaction['type']>().toEqualTypeOf<TransactionType>()
    const narrow = (transaction: Transaction): void => {
      if (transaction.type === 'eip4844') expectTypeOf(transaction.maxFeePerBlobGas).toEqualTypeOf<bigint>()
      if (transaction.type === 'eip7702')
        expectTypeOf(transaction.authorizationList[0]?.nonce).toEqualTypeOf<bigint | undefined>()
      if (transaction.type === 'legacy') expectTypeOf(transaction.gasPrice).toEqualTypeOf<bigint>()
      if (transaction.type === 'other') expectTypeOf(transaction['mint']).toBeUnknown()
      else expectTypeOf(transaction.v).toEqualTypeOf<bigint | undefined>()
      // @ts-expect-error not every type has it
      void transaction.maxFeePerGas
    }
    void narrow
  })

  test('accept call options in addition to their own', () => {
    const options = {
      signal: new AbortController().signal,
      timeoutMs: 1,
      retries: 0,
      priority: 'poll',
      minBlock: 1n,
    } as const
    expectTypeOf(getBlock(client, options)).toEqualTypeOf<Promise<Block | null>>()
    expectTypeOf(getBlock(client, { ...options, includeTransactions: true })).toEqualTypeOf<
      Promise<Block<Transaction> | null>
    >()
    expectTypeOf(getBlock(client, { ...options, block: 'pending' })).toEqualTypeOf<Promise<PendingBlock | null>>()
    expectTypeOf(getBlockNumber(client, options)).toEqualTypeOf<Promise<bigint>>()
    expectTypeOf(getBalance(client, { ...options, address: hash })).toEqualTypeOf<Promise<bigint>>()
    expectTypeOf(getLogs(client, { ...options, blockHash: hash })).toEqualTypeOf<Promise<Log[]>>()
    expectTypeOf(call(client, { ...options, to: hash })).toEqualTypeOf<Promise<Hex>>()
    expectTypeOf(waitForTransactionReceipt(client, { ...options, hash })).toEqualTypeOf<Promise<TransactionReceipt>>()
    expectTypeOf(iterateLogs(client, { ...options, fromBlock: 0 })).toEqualTypeOf<LogIterator>()
    void getBlockNumber(client, { timeoutMs: undefined, signal: undefined })
  })

  test('reject misspelt call options', () => {
    expectTypeOf(getBlock).parameter(1).exclude<undefined>().not.toHaveProperty('timeout')
    // @ts-expect-error timeoutMs
    void getBlock(client, { timeout: 1 })
    // @ts-expect-error timeoutMs
    void getBlock(client, { block: 'pending', timeoutMS: 1 })
    // @ts-expect-error timeoutMs
    void getBlockNumber(client, { timeout: 1 })
    // @ts-expect-error retries
    void getChainId(client, { retry: 1 })
    // @ts-expect-error signal
    void getGasPrice(client, { abortSignal: new AbortController().signal })
    // @ts-expect-error timeoutMs
    void getBalance(client, { address: hash, timeout: 1 })
    // @ts-expect-error retries
    void getLogs(client, { blockHash: hash, retry: 1 })
    // @ts-expect-error timeoutMs
    void call(client, { to: hash, timeout: 1 })
    // @ts-expect-error not a priority
    void getTransaction(client, { hash, priority: 'high' })
    // @ts-expect-error timeoutMs
    void waitForTransactionReceipt(client, { hash, timeout: 1 })
    // @ts-expect-error timeoutMs
    iterateLogs(client, { fromBlock: 0, timeout: 1 })
    // @ts-expect-error includeTransactions
    void getBlock(client, { transactions: true })
  })
})
