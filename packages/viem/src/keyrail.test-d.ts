import type { Transport, TransportOptions } from '@keyrail/core'
import { describe, expectTypeOf, test } from 'vitest'
import { keyrail } from './keyrail.ts'
import type { KeyrailTransport } from './keyrailTransport.ts'

const baseUrl = { sepolia: 'https://node.example/sepolia', mainnet: 'https://node.example/mainnet' }
const chainId = { sepolia: 11155111, mainnet: 1 }
const apiKey = 'kr_a'
const url = 'http://127.0.0.1:8545'
declare const transport: Transport

describe('the name of the network', () => {
  test('is one of the record', () => {
    expectTypeOf(keyrail({ baseUrl, apiKey, network: 'sepolia' })).toEqualTypeOf<KeyrailTransport>()
    keyrail({ rpcUrl: baseUrl, apiKey, network: 'mainnet', chainId }, { retryCount: 0 })
    // @ts-expect-error not in the record
    keyrail({ baseUrl, apiKey, network: 'goerli' })
    // @ts-expect-error not in the record
    keyrail({ rpcUrl: baseUrl, apiKey, network: 'goerli' })
    // @ts-expect-error not in the record of chain ids
    keyrail({ url, network: 'goerli', chainId })
    // @ts-expect-error a record without a network
    keyrail({ baseUrl, apiKey })
    // @ts-expect-error any name may come from outside
    keyrail({ baseUrl, apiKey, network: '' as string })
  })

  test('is any string without a record, or with a record of any names', () => {
    keyrail({ url, network: 'any-name' })
    keyrail({ baseUrl: { ...baseUrl } as Record<string, string>, apiKey, network: '' as string })
    const options: TransportOptions = { baseUrl, apiKey, network: 'sepolia' }
    expectTypeOf(keyrail).toBeCallableWith(options)
    expectTypeOf(keyrail).toBeCallableWith(transport)
  })
})
