import { createConfig } from '@wagmi/core'
import type { Transport } from 'viem'
import { base, mainnet } from 'viem/chains'
import { describe, expectTypeOf, test } from 'vitest'
import { keyrailTransports } from './keyrailTransports.ts'
import type { KeyrailTransport } from './keyrailTransport.ts'

const baseUrl = 'https://node.example/{network}'
const apiKey = 'kr_a'
const chains = [mainnet, base] as const

describe('the transports', () => {
  test('have the ids of the chains, however the array is written', () => {
    type Expected = Record<1 | 8453, KeyrailTransport>
    expectTypeOf(keyrailTransports({ baseUrl, apiKey }, chains)).toEqualTypeOf<Expected>()
    expectTypeOf(keyrailTransports({ baseUrl, apiKey }, [mainnet, base])).toEqualTypeOf<Expected>()
    const list = [mainnet, base]
    expectTypeOf(keyrailTransports({ baseUrl, apiKey }, list)).toEqualTypeOf<Expected>()
    expectTypeOf(keyrailTransports({ baseUrl, apiKey }, [{ id: 5 }])).toEqualTypeOf<Record<5, KeyrailTransport>>()
  })

  test('are those of a config of wagmi', () => {
    createConfig({ chains, transports: keyrailTransports({ baseUrl, apiKey }, chains) })
    expectTypeOf(keyrailTransports({ baseUrl, apiKey }, chains)).toExtend<Record<1 | 8453, Transport>>()
    // @ts-expect-error no transport for Base
    createConfig({ chains, transports: keyrailTransports({ baseUrl, apiKey }, [mainnet]) })
  })
})

describe('the options', () => {
  test('are those of keyrail() with one endpoint', () => {
    const secret = (): string => apiKey
    expectTypeOf(
      keyrailTransports({ rpcUrl: baseUrl, apiKey: secret, timeoutMs: 5_000 }, chains, { retryCount: 0 }),
    ).toHaveProperty(8453)
    keyrailTransports({ url: 'https://node.example/{network}/v2/kr_a', headers: { 'x-team': 'wallet' } }, chains)
    keyrailTransports({ baseUrl: { 'base-mainnet': 'https://base.example' }, apiKey }, [base])
    // @ts-expect-error misspelt
    keyrailTransports({ baseUrl, apiKey, timeout: 5_000 }, chains)
    // @ts-expect-error no key
    keyrailTransports({ baseUrl }, chains)
    // @ts-expect-error two URLs
    keyrailTransports({ baseUrl, rpcUrl: baseUrl, apiKey }, chains)
    // @ts-expect-error each chain has its own network
    keyrailTransports({ baseUrl, apiKey, network: 'base-mainnet' }, chains)
    // @ts-expect-error each chain has its own id
    keyrailTransports({ baseUrl, apiKey, chainId: 1 }, chains)
    // @ts-expect-error misspelt
    keyrailTransports({ baseUrl, apiKey }, chains, { retries: 0 })
  })

  test('name networks by the ids of the chains', () => {
    expectTypeOf(keyrailTransports({ baseUrl, apiKey, networks: { 8453: 'base' } }, chains)).toHaveProperty(1)
    keyrailTransports({ baseUrl, apiKey, networks: { [base.id]: 'base', [mainnet.id]: undefined } }, chains)
    // @ts-expect-error not one of the chains
    keyrailTransports({ baseUrl, apiKey, networks: { 10: 'optimism-mainnet' } }, chains)
    // @ts-expect-error not a name
    keyrailTransports({ baseUrl, apiKey, networks: { 1: 1 } }, chains)
  })
})
