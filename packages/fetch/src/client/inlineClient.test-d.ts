import { createTransport, failover } from '@keyrail/core'
import type { EthereumRpc } from '@keyrail/core'
import { describe, expectTypeOf, test } from 'vitest'
import {
  call,
  createClient,
  estimateGas,
  getBalance,
  getBlock,
  getBlockNumber,
  getChainId,
  getCode,
  getFeeHistory,
  getGasPrice,
  getLogs,
  getStorageAt,
  getTransaction,
  getTransactionCount,
  getTransactionReceipt,
  iterateLogs,
  sendRawTransaction,
  subscribe,
  waitForTransactionReceipt,
} from '../index.ts'
import type { Block, Client, Log, LogIterator, Transaction, TransactionReceipt } from '../index.ts'

const url = 'http://127.0.0.1:8545'
const address = '0x00000000219ab540356cbb839cbe05303d7705fa'
const hash = `0x${'00'.repeat(32)}` as const
interface MyMethods {
  my_method(): Promise<string>
}

describe('a client created inline', () => {
  test('is accepted by the functions that subscribe, wait and iterate', () => {
    expectTypeOf(iterateLogs(createClient({ url }), { fromBlock: 0 })).toEqualTypeOf<LogIterator>()
    expectTypeOf(subscribe(createClient({ url }), { blocks: true })).toEqualTypeOf(
      subscribe(createdBefore, { blocks: true }),
    )
    expectTypeOf(subscribe(createClient({ url }), { logs: { address } })).toEqualTypeOf(
      subscribe(createdBefore, { logs: { address } }),
    )
    expectTypeOf(waitForTransactionReceipt(createClient({ url }), { hash })).toEqualTypeOf<
      Promise<TransactionReceipt>
    >()
  })

  test('is accepted with any options', () => {
    const transport = createTransport({ url })
    expectTypeOf(iterateLogs(createClient(transport), { fromBlock: 0 })).toEqualTypeOf<LogIterator>()
    void iterateLogs(createClient({ baseUrl: url, apiKey: 'kr_a' }, []), { fromBlock: 0 })
    void iterateLogs(createClient({ endpoints: failover([{ url }, { url }]) }), { fromBlock: 0 })
    void iterateLogs(createClient<MyMethods>({ url }, ['getSlot']), { fromBlock: 0 })
    void iterateLogs(createClient({ url }).with({ timeoutMs: 1 }), { fromBlock: 0 })
    void iterateLogs(createClient(createTransport({ url })), { fromBlock: 0 })
    void subscribe(createClient(createTransport({ url })), { pending: true })
    void waitForTransactionReceipt(createClient(createTransport({ url })), { hash })
  })

  test('is accepted by every read, with the same result', () => {
    expectTypeOf(getBlock(createClient({ url }))).toEqualTypeOf<Promise<Block | null>>()
    expectTypeOf(getBlock(createClient({ url }), { includeTransactions: true })).toEqualTypeOf<
      Promise<Block<Transaction> | null>
    >()
    expectTypeOf(getTransaction(createClient({ url }), { hash })).toEqualTypeOf<Promise<Transaction | null>>()
    expectTypeOf(getTransactionReceipt(createClient({ url }), { hash })).toEqualTypeOf<
      Promise<TransactionReceipt | null>
    >()
    expectTypeOf(getLogs(createClient({ url }), { blockHash: hash })).toEqualTypeOf<Promise<Log[]>>()
    expectTypeOf(getBlockNumber(createClient({ url }))).toEqualTypeOf<Promise<bigint>>()
    expectTypeOf(getGasPrice(createClient({ url }))).toEqualTypeOf<Promise<bigint>>()
    expectTypeOf(getChainId(createClient({ url }))).toEqualTypeOf<Promise<number>>()
    expectTypeOf(getBalance(createClient({ url }), { address })).toEqualTypeOf<Promise<bigint>>()
    expectTypeOf(getTransactionCount(createClient({ url }), { address })).toEqualTypeOf<Promise<number>>()
    void getCode(createClient({ url }), { address })
    void getStorageAt(createClient({ url }), { address, slot: 0n })
    void getFeeHistory(createClient({ url }), { blockCount: 1 })
    void call(createClient({ url }), { to: address })
    void estimateGas(createClient({ url }), { to: address })
    void sendRawTransaction(createClient({ url }), { transaction: '0x02' })
  })

  test('is a plain Client', () => {
    const takesClient = (client: Client): Client => client
    expectTypeOf(takesClient(createClient({ url }))).toEqualTypeOf<Client>()
    expectTypeOf(createClient({ url })).toEqualTypeOf<Client>()
    expectTypeOf(createClient(createTransport({ url }))).toEqualTypeOf<Client>()
    const declared: Client = createClient({ url })
    const record: { readonly client: Client } = { client: createClient({ url }) }
    void [declared, record]
    expectTypeOf((async (): Promise<Client> => createClient({ url }))()).toEqualTypeOf<Promise<Client>>()
    const takesMine = (client: Client<EthereumRpc & MyMethods>): void => void client
    takesMine(createClient<MyMethods>({ url }))
    // @ts-expect-error your own methods need createClient<MyMethods>(…)
    takesMine(createClient({ url }))
  })
})

declare const createdBefore: Client
