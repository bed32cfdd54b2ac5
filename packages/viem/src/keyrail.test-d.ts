import { webSocket } from '@keyrail/core'
import type { Transport, TransportOptions } from '@keyrail/core'
import { createPublicClient, fallback, http } from 'viem'
import { watchBlockHeaders } from 'viem/actions'
import { describe, expectTypeOf, test } from 'vitest'
import { keyrail } from './keyrail.ts'
import type { KeyrailTransport, KeyrailWebSocketTransport } from './keyrailTransport.ts'

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

describe('with webSocket', () => {
  test('the type is that which viem subscribes to', () => {
    const subscribing = keyrail({ url, webSocket: webSocket() })
    expectTypeOf(subscribing).toEqualTypeOf<KeyrailWebSocketTransport>()
    expectTypeOf(subscribing).toExtend<KeyrailTransport>()
    expectTypeOf(keyrail({ baseUrl, apiKey, network: 'sepolia', webSocket: webSocket() })).toEqualTypeOf(subscribing)
    // @ts-expect-error not in the record
    keyrail({ baseUrl, apiKey, network: 'goerli', webSocket: webSocket() })
    const client = createPublicClient({ transport: subscribing })
    expectTypeOf(client.transport.type).toEqualTypeOf<'webSocket'>()
    expectTypeOf(client.transport.redactedUrl).toEqualTypeOf<string>()
    watchBlockHeaders(client, { onBlockHeader: () => {} })
    client.watchBlocks({ onBlock: () => {}, poll: false })
    createPublicClient({ transport: fallback([subscribing, http()]) }).watchBlocks({ onBlock: () => {}, poll: false })
  })

  test('the type is open for a transport that may have it, or without it', () => {
    expectTypeOf(keyrail(transport)).toEqualTypeOf<KeyrailTransport>()
    expectTypeOf(keyrail({ url, webSocket: undefined })).toEqualTypeOf<KeyrailTransport>()
    const client = createPublicClient({ transport: keyrail({ url }) })
    expectTypeOf(client.transport.type).toEqualTypeOf<'keyrail' | 'webSocket'>()
    client.watchBlocks({ onBlock: () => {}, pollingInterval: 100 })
    // @ts-expect-error only over WebSocket
    watchBlockHeaders(client, { onBlockHeader: () => {} })
  })
})
