import type { EthereumRpc, Hex, Transport, TransportOptions } from '@keyrail/core'
import type { RpcBlockWithHashes, RpcBlockWithTransactions } from '@keyrail/core/schema'
import { describe, expectTypeOf, test } from 'vitest'
import type { Client } from './client.ts'
import { createClient } from './createClient.ts'

declare const transport: Transport
const client = createClient({ url: 'http://127.0.0.1:8545' })

describe('a client', () => {
  test('has every method of the schema, exactly', () => {
    expectTypeOf(client).toEqualTypeOf<Client<EthereumRpc>>()
    expectTypeOf<(typeof client)['eth_blockNumber']>().toEqualTypeOf<EthereumRpc['eth_blockNumber']>()
    expectTypeOf<(typeof client)['eth_getLogs']>().toEqualTypeOf<EthereumRpc['eth_getLogs']>()
    expectTypeOf(client.eth_blockNumber()).toEqualTypeOf<Promise<Hex>>()
    expectTypeOf(client.eth_getBlockByNumber('latest', false)).toEqualTypeOf<Promise<RpcBlockWithHashes | null>>()
    expectTypeOf(client.eth_getBlockByNumber('latest', true)).toEqualTypeOf<Promise<RpcBlockWithTransactions | null>>()
  })

  test('rejects unknown methods, wrong params and a then()', () => {
    // @ts-expect-error no such method
    void client.eth_blockNumbers
    // @ts-expect-error a number instead of a hex string
    void client.eth_getBlockByNumber(1, false)
    // @ts-expect-error one param too many
    void client.eth_chainId('latest')
    // @ts-expect-error a client is not a promise
    void client.then
    expectTypeOf<Awaited<typeof client>>().toEqualTypeOf<typeof client>()
  })

  test('cannot be changed', () => {
    expectTypeOf(client.redactedUrl).toBeString()
    // @ts-expect-error readonly
    client.redactedUrl = 'mine'
    // @ts-expect-error readonly
    client.close = () => {}
  })

  test('types requests by method name', () => {
    expectTypeOf(client.request({ method: 'eth_blockNumber' })).toEqualTypeOf<Promise<Hex>>()
    expectTypeOf(
      client.request({ method: 'eth_getBlockByNumber', params: ['latest', true] }, { timeoutMs: 1_000 }),
    ).toEqualTypeOf<Promise<RpcBlockWithTransactions | null>>()
    // @ts-expect-error unknown method
    void client.request({ method: 'eth_blockNumbers' })
    // @ts-expect-error wrong params
    void client.request({ method: 'eth_getBlockByNumber', params: ['latest', 1] })
    // @ts-expect-error unknown option
    void client.request({ method: 'eth_blockNumber' }, { timeout: 1_000 })
  })

  test('has the same type with options bound', () => {
    const bound = client.with({ signal: new AbortController().signal, timeoutMs: 1_000 })
    expectTypeOf(bound).toEqualTypeOf<typeof client>()
    expectTypeOf(bound.with({})).toEqualTypeOf<typeof client>()
    // @ts-expect-error unknown option
    client.with({ timeout: 1_000 })
  })

  test('closes', () => {
    expectTypeOf(client.close()).toBeVoid()
    expectTypeOf(client[Symbol.asyncDispose]()).toEqualTypeOf<Promise<void>>()
  })
})

interface MyMethods {
  my_method(a: string): Promise<number>
  getSlot(): Promise<bigint>
}

describe('user-defined methods', () => {
  const mine = createClient<MyMethods>(transport, ['getSlot'])

  test('are added to the schema', () => {
    expectTypeOf(mine.my_method('a')).toEqualTypeOf<Promise<number>>()
    expectTypeOf(mine.getSlot()).toEqualTypeOf<Promise<bigint>>()
    expectTypeOf(mine.eth_chainId()).toEqualTypeOf<Promise<Hex>>()
    expectTypeOf(mine.request({ method: 'my_method', params: ['a'] })).toEqualTypeOf<Promise<number>>()
    expectTypeOf(mine.with({}).my_method('a')).toEqualTypeOf<Promise<number>>()
    // @ts-expect-error wrong params
    void mine.my_method(1)
    // @ts-expect-error not a method of the plain schema
    void client.my_method
  })

  test('can be passed with the schema, as before it was added', () => {
    const both = createClient<EthereumRpc & MyMethods>(transport, ['getSlot'])
    expectTypeOf(both.my_method('a')).toEqualTypeOf<Promise<number>>()
    expectTypeOf(both.eth_getBlockByNumber('latest', false)).toEqualTypeOf(client.eth_getBlockByNumber('latest', false))
  })
})

describe('options', () => {
  test('are the options of createTransport, or a transport', () => {
    expectTypeOf(createClient).toBeCallableWith({ url: 'http://127.0.0.1:8545', timeoutMs: 1_000 })
    expectTypeOf(createClient).toBeCallableWith({ baseUrl: 'https://node.example', apiKey: 'kr_a' })
    expectTypeOf(createClient).toBeCallableWith({
      rpcUrl: { testnet: 'https://node.example/testnet', mainnet: 'https://node.example/mainnet' },
      network: 'mainnet',
      apiKey: async () => 'kr_m',
    })
    expectTypeOf(createClient).toBeCallableWith(transport)
    // @ts-expect-error the URL already contains the key
    createClient({ url: 'http://127.0.0.1:8545', apiKey: 'kr_a' })
    // @ts-expect-error two URLs
    createClient({ baseUrl: 'https://node.example', rpcUrl: 'https://node.example', apiKey: 'kr_a' })
    // @ts-expect-error a record of URLs without a network
    createClient({ rpcUrl: { testnet: 'https://a.example', mainnet: 'https://b.example' }, apiKey: 'kr_m' })
    // @ts-expect-error no key
    createClient({ baseUrl: 'https://node.example' })
    // @ts-expect-error no URL
    createClient({ timeoutMs: 1_000 })
    // @ts-expect-error a misspelt option
    createClient({ url: 'http://127.0.0.1:8545', timeout: 1_000 })
    // @ts-expect-error a request function alone is not a transport
    createClient({ request: async () => '0x1' })
  })
})

describe('the name of the network', () => {
  const baseUrl = { sepolia: 'https://node.example/sepolia', mainnet: 'https://node.example/mainnet' }
  const chainId = { sepolia: 11155111, mainnet: 1 }
  const apiKey = 'kr_a'
  const url = 'http://127.0.0.1:8545'

  test('is one of the record', () => {
    expectTypeOf(createClient({ baseUrl, apiKey, network: 'sepolia' })).toEqualTypeOf<Client>()
    expectTypeOf(createClient({ rpcUrl: baseUrl, apiKey, network: 'mainnet', chainId })).toEqualTypeOf<Client>()
    expectTypeOf(createClient({ url, network: 'mainnet', chainId })).toEqualTypeOf<Client>()
    // @ts-expect-error not in the record
    createClient({ baseUrl, apiKey, network: 'goerli' })
    // @ts-expect-error not in the record
    createClient({ rpcUrl: baseUrl, apiKey, network: 'goerli' })
    // @ts-expect-error not in the record of chain ids
    createClient({ url, network: 'goerli', chainId })
    // @ts-expect-error no chain id for mainnet
    createClient({ baseUrl, apiKey, network: 'mainnet', chainId: { sepolia: 11155111 } })
    // @ts-expect-error a name that is not known at compile time
    createClient({ baseUrl, apiKey, network: '' as string })
  })

  test('is any string without a record, with a record of any names, and with a schema of your own', () => {
    createClient({ url, network: 'any-name' })
    createClient({ baseUrl: 'https://node.example', apiKey, network: '' as string })
    createClient({ baseUrl: { ...baseUrl } as Record<string, string>, apiKey, network: '' as string })
    const options: TransportOptions = { baseUrl, apiKey, network: 'sepolia' }
    expectTypeOf(createClient(options)).toEqualTypeOf<Client>()
    const either: TransportOptions | Transport = options
    expectTypeOf(createClient(either)).toEqualTypeOf<Client>()
    const mine: Client<EthereumRpc & MyMethods> = createClient<MyMethods>({ baseUrl, apiKey, network: 'sepolia' })
    void mine
    createClient<MyMethods, 'sepolia' | 'mainnet'>({ baseUrl, apiKey, network: 'sepolia' })
    // @ts-expect-error not in the record
    createClient<MyMethods, 'sepolia' | 'mainnet'>({ baseUrl, apiKey, network: 'goerli' })
  })
})
