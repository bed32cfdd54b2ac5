import { describe, expectTypeOf, test } from 'vitest'
import type { EndpointUrlOptions } from '../endpoint/endpointUrlOptions.ts'
import { createTransport } from './createTransport.ts'
import { failover } from './failover.ts'
import type { FailoverFeature } from './failover.ts'
import { http } from './endpoint/http.ts'
import type { TransportOptions } from './transportOptions.ts'

type Network = 'testnet' | 'mainnet'

const urls = { testnet: 'https://node.example/testnet', mainnet: 'https://node.example/mainnet' }
const chainIds = { testnet: 11155111, mainnet: 1 }
const apiKey = 'kr_a'
const url = 'http://127.0.0.1:8545'
declare const network: Network
declare const maybe: Network | undefined

describe('a record by network', () => {
  test('needs a network', () => {
    expectTypeOf(createTransport).toBeCallableWith({ baseUrl: urls, apiKey, network: 'mainnet' })
    expectTypeOf(createTransport).toBeCallableWith({ rpcUrl: urls, apiKey, network, timeoutMs: 1_000 })
    expectTypeOf(createTransport).toBeCallableWith({ url, network, chainId: chainIds })
    expectTypeOf(createTransport).toBeCallableWith({
      baseUrl: 'https://node.example',
      apiKey,
      network,
      chainId: chainIds,
    })
    expectTypeOf(createTransport).toBeCallableWith({ baseUrl: urls, apiKey, network, chainId: 1 })
    // @ts-expect-error no network
    createTransport({ baseUrl: urls, apiKey })
    // @ts-expect-error no network
    createTransport({ rpcUrl: urls, apiKey })
    // @ts-expect-error no network
    createTransport({ baseUrl: urls, apiKey, chainId: chainIds })
    // @ts-expect-error no network
    createTransport({ url, chainId: chainIds })
    // @ts-expect-error it may be undefined
    createTransport({ baseUrl: urls, apiKey, network: maybe })
    // @ts-expect-error no such network
    createTransport({ baseUrl: urls, apiKey, network: 'sepolia' })
    // @ts-expect-error no network
    const address: EndpointUrlOptions = { rpcUrl: urls, apiKey }
    expectTypeOf(address).toExtend<object>()
  })

  test('may be left to the network of all endpoints', () => {
    const endpoints = [{ baseUrl: urls, apiKey }, { url }, { rpcUrl: urls, apiKey, weight: 0 }] as const
    expectTypeOf(failover(endpoints, { network })).toExtend<FailoverFeature>()
    createTransport({ endpoints: failover(endpoints, { network, chainId: chainIds }) })
    createTransport({ endpoints: failover([{ baseUrl: urls, apiKey, network }, { url }]) })
    // @ts-expect-error no network
    failover(endpoints)
    // @ts-expect-error no network
    failover([{ url }, { baseUrl: urls, apiKey }])
    // @ts-expect-error no network
    failover([{ url }], { chainId: chainIds })
  })
})

describe('one value for both networks', () => {
  test('needs none, and takes one', () => {
    expectTypeOf(createTransport).toBeCallableWith({ url })
    expectTypeOf(createTransport).toBeCallableWith({ url, network: maybe, chainId: 1 })
    expectTypeOf(createTransport).toBeCallableWith({ baseUrl: 'https://node.example', apiKey })
    createTransport({ endpoints: failover([{ url }, { url, weight: 0, name: 'spare' }], { chainId: 1 }) })
  })
})

describe('the names of networks', () => {
  const chains = { sepolia: 'https://node.example/sepolia', base: 'https://node.example/base' } as const

  test('come from the record', () => {
    expectTypeOf(createTransport).toBeCallableWith({ baseUrl: chains, apiKey, network: 'sepolia' })
    createTransport({ rpcUrl: { sepolia: url, 'base-mainnet': url }, apiKey, network: 'base-mainnet' })
    createTransport({ url, network: 'base', chainId: { base: 8453, sepolia: 11155111 } })
    createTransport({ baseUrl: chains, apiKey, network: 'base', chainId: { base: 8453, sepolia: 11155111 } })
    http({ baseUrl: chains, apiKey, network: 'base' })
    // @ts-expect-error not in the record
    createTransport({ baseUrl: chains, apiKey, network: 'mainnet' })
    // @ts-expect-error not in the record of chain ids
    createTransport({ url, network: 'mainnet', chainId: { base: 8453, sepolia: 11155111 } })
    // @ts-expect-error no chain id for base
    createTransport({ baseUrl: chains, apiKey, network: 'base', chainId: { sepolia: 11155111 } })
    // @ts-expect-error not in the record
    failover([{ baseUrl: chains, apiKey }], { network: 'mainnet' })
    // @ts-expect-error not in the record
    failover([{ baseUrl: chains, apiKey, network: 'mainnet' }])
    // @ts-expect-error not in the record
    http({ baseUrl: chains, apiKey, network: 'mainnet' })
    // @ts-expect-error any name may come from outside
    createTransport({ baseUrl: chains, apiKey, network: '' as string })
    // @ts-expect-error unknown option
    createTransport({ baseUrl: chains, apiKey, network: 'base', timeout: 5 })
  })

  test('are free without one, and with a record of any names', () => {
    createTransport({ baseUrl: 'https://node.example', apiKey, network: 'sepolia' })
    createTransport({ url, network: 'any-name' })
    const shared = { baseUrl: 'https://node.example/{network}', apiKey } as const
    createTransport({ ...shared, network: 'base-mainnet', chainId: 8453 })
    createTransport({ endpoints: failover([shared, { ...shared, network: 'base' }], { network: 'base-mainnet' }) })
    createTransport({ baseUrl: { ...chains } as Record<string, string>, apiKey, network: '' as string })
    const options: TransportOptions = { baseUrl: chains, apiKey, network: 'sepolia' }
    expectTypeOf(createTransport).toBeCallableWith(options)
  })
})

describe('headers', () => {
  test('are a record, or a function that returns one', () => {
    expectTypeOf(createTransport).toBeCallableWith({ url, headers: { 'x-team': 'wallet' } })
    createTransport({ url, headers: () => ({ 'x-team': 'wallet' }) })
    createTransport({ endpoints: failover([{ url, headers: async () => ({ 'x-team': 'wallet' }) }]) })
    // @ts-expect-error a value must be a string
    createTransport({ url, headers: { 'x-team': undefined } })
    // @ts-expect-error an instance of Headers has no members
    createTransport({ url, headers: new Headers() })
    // @ts-expect-error each endpoint has its own
    createTransport({ endpoints: failover([{ url }]), headers: { 'x-team': 'wallet' } })
  })
})

describe('one value for both networks', () => {
  test('needs none, and takes one', () => {
    expectTypeOf(createTransport).toBeCallableWith({ url })
    expectTypeOf(createTransport).toBeCallableWith({ url, network: maybe, chainId: 1 })
    expectTypeOf(createTransport).toBeCallableWith({ baseUrl: 'https://node.example', apiKey })
    createTransport({ endpoints: failover([{ url }, { url, weight: 0, name: 'spare' }], { chainId: 1 }) })
  })
})

describe('options that are misspelt or do not go together', () => {
  test('are errors', () => {
    // @ts-expect-error unknown option
    createTransport({ url, timeout: 5 })
    // @ts-expect-error unknown option
    createTransport({ baseUrl: urls, apiKey, network, timeout: 5 })
    // @ts-expect-error unknown option
    failover([{ url, wieght: 1 }])
    // @ts-expect-error unknown option
    failover([{ url, wieght: 1 }], { network })
    // @ts-expect-error two addresses
    createTransport({ url, endpoints: failover([{ url }]) })
    // @ts-expect-error two addresses
    createTransport({ url, baseUrl: urls, network, apiKey })
    // @ts-expect-error no key
    createTransport({ baseUrl: urls, network })
    // @ts-expect-error no URL
    createTransport({ apiKey })
    expectTypeOf<TransportOptions>().toExtend<object>()
  })
})
