import { isKeyrailError } from '@keyrail/core'
import { leakableKey as key, replyToCalls } from '@keyrail/core/test/adapterCases.ts'
import { startFaultServer } from '@keyrail/core/test/faultServer.ts'
import { reachableStrings } from '@keyrail/core/test/leakWalk.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import { createApiKey } from '@keyrail/gateway'
import { createTestGateway, createMemoryKeyStore } from '@keyrail/gateway/test/internal.ts'
import { createConfig, getBlockNumber, getClient } from '@wagmi/core'
import { createPublicClient, defineChain } from 'viem'
import type { BaseError, Chain } from 'viem'
import { arbitrum, base, mainnet, sepolia } from 'viem/chains'
import { describe, expect, onTestFinished, test } from 'vitest'
import { keyrailTransports } from '../src/index.ts'

const baseUrl = 'https://node.example/{network}'

const defineLocal = <const Id extends number>(id: Id): Chain & { readonly id: Id } =>
  defineChain({
    id,
    name: `local ${id}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [] } },
  }) as Chain & { readonly id: Id }

const redactedUrls = (transports: ReturnType<typeof keyrailTransports>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(transports).map(([id, transport]) => [
      id,
      createPublicClient({ transport }).transport['redactedUrl'] as string,
    ]),
  )

describe('the URL of each chain', () => {
  test('contains the name of its network', () => {
    expect(redactedUrls(keyrailTransports({ baseUrl, apiKey: key }, [mainnet, base, arbitrum, sepolia]))).toEqual({
      1: `https://node.example/ethereum-mainnet/v2/…${key.slice(-4)}`,
      8453: `https://node.example/base-mainnet/v2/…${key.slice(-4)}`,
      42161: `https://node.example/arbitrum-one/v2/…${key.slice(-4)}`,
      11155111: `https://node.example/ethereum-sepolia/v2/…${key.slice(-4)}`,
    })
  })

  test('contains the name that networks gives it, also for a chain that is not known', () => {
    const networks = { 1: 'mainnet', 31337: 'devnet' }
    const options = { rpcUrl: 'https://{network}.rpc.example.org', apiKey: key, networks }
    expect(redactedUrls(keyrailTransports(options, [mainnet, base, { id: 31337 }]))).toEqual({
      1: `https://mainnet.rpc.example.org/…${key.slice(-4)}`,
      8453: `https://base-mainnet.rpc.example.org/…${key.slice(-4)}`,
      31337: `https://devnet.rpc.example.org/…${key.slice(-4)}`,
    })
  })

  test('comes from a record', () => {
    const urls = { 'ethereum-mainnet': 'https://one.example', 'base-mainnet': 'https://two.example' }
    expect(redactedUrls(keyrailTransports({ baseUrl: urls, apiKey: key }, [mainnet, base]))).toEqual({
      1: `https://one.example/v2/…${key.slice(-4)}`,
      8453: `https://two.example/v2/…${key.slice(-4)}`,
    })
    expect(() => keyrailTransports({ baseUrl: urls, apiKey: key }, [sepolia])).toThrow(
      'Unknown network "ethereum-sepolia". baseUrl has ethereum-mainnet, base-mainnet.',
    )
  })
})

test.each<[options: object, chains: unknown, message: string]>([
  [{ baseUrl }, [{ id: 31337 }], "The network of chain 31337 has no known name. Pass it: networks: { 31337: 'name' }."],
  [{ baseUrl: 'https://node.example' }, [mainnet], 'baseUrl is the same for all chains. Write {network} where'],
  [{ rpcUrl: 'https://node.example' }, [mainnet], 'rpcUrl is the same for all chains. Write {network} where'],
  [{ baseUrl, network: 'base-mainnet' }, [base], 'keyrailTransports takes no network and no chainId'],
  [{ baseUrl, chainId: 1 }, [base], 'keyrailTransports takes no network and no chainId: each chain has its own.'],
  [{ endpoints: {} }, [base], 'The URL is missing. Pass url, or baseUrl or rpcUrl with apiKey. For failover or a'],
  [{ request: () => {} }, [base], 'The URL is missing. Pass url, or baseUrl or rpcUrl with apiKey. For failover or a'],
  [{ baseUrl: process.env['NONE'] }, [base], 'The URL is missing.'],
  [{ baseUrl, timeout: 5 }, [base], 'Unknown option "timeout". Did you mean "timeoutMs"?'],
  [{ baseUrl, networks: { 8453: 'Base' } }, [base], 'network must be a name such as "sepolia"'],
  [
    { baseUrl },
    undefined,
    'The second argument of keyrailTransports must be an array of chains, such as [mainnet, base].',
  ],
  [{ baseUrl }, base, 'The second argument of keyrailTransports must be an array of chains, such as [mainnet, base].'],
  [{ baseUrl }, [undefined], 'The second argument of keyrailTransports must be an array of chains'],
  [{ baseUrl }, [{ id: -1 }], 'The network of chain -1 has no known name.'],
])('%j for %j is rejected', (options, chains, message) => {
  const create = (): unknown => keyrailTransports({ apiKey: key, ...options } as never, chains as never)
  expect(create).toThrow(message)
  expect(create).toThrow(expect.not.stringContaining(key) as never)
})

test('options that are not an object are rejected, and not shown', () => {
  for (const options of [undefined, `https://node.example/{network}/v2/${key}`])
    expect(() => keyrailTransports(options as never, [mainnet])).toThrow(
      `keyrailTransports takes an object of options, not ${options === undefined ? 'undefined' : 'a string'}`,
    )
})

test('a node on another chain is an error that names both chains', async () => {
  const server = await startFaultServer(replyToCalls('0x5'))
  onTestFinished(() => server.close())
  const transports = keyrailTransports({ baseUrl: `${server.url}/{network}`, apiKey: key }, [base])
  const client = createPublicClient({ chain: base, transport: transports[8453] })
  const failure = await client.getChainId().catch((error: unknown) => error)
  expect((failure as BaseError).message).toContain('the node is on chain 5, but the chainId option is 8453')
  expect(server.seen[0]?.path).toBe(`/base-mainnet/v2/${key}`)
  const found = (failure as BaseError).walk((one) => 'failure' in Object(one)) as { failure?: unknown } | null
  expect(isKeyrailError(found?.failure, 'wrongNetwork')).toBe(true)
})

test('a wagmi config reads each chain from its own node, through one base URL and one key', async () => {
  const nodes = await Promise.all([startAnvil('--chain-id', '7001'), startAnvil('--chain-id', '7002')])
  onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.stop()))))
  await fetch(nodes[1].url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_mine', params: ['0x3'] }),
  })
  const keys = createMemoryKeyStore()
  const apiKey = createApiKey('app')
  keys.add(apiKey, { id: 'app-1', kind: 'app', networks: ['testnet', 'mainnet'], status: 'active' })
  const gateway = createTestGateway({
    networks: {
      testnet: { chainId: 7001, upstreams: [{ url: nodes[0].url }] },
      mainnet: { chainId: 7002, upstreams: [{ url: nodes[1].url }] },
    },
    keys,
  })
  onTestFinished(() => gateway.close())
  const { url } = await gateway.listen()

  const chains = [defineLocal(7001), defineLocal(7002)] as const
  const networks = { 7001: 'testnet', 7002: 'mainnet' }
  const config = createConfig({
    chains,
    transports: keyrailTransports({ baseUrl: `${url}/{network}`, apiKey, networks }, chains),
    multiInjectedProviderDiscovery: false,
    storage: null,
  })
  expect(await getBlockNumber(config, { chainId: 7001 })).toBe(0n)
  expect(await getBlockNumber(config, { chainId: 7002 })).toBe(3n)
  expect(getClient(config, { chainId: 7002 })?.transport).toMatchObject({
    redactedUrl: `${url}/mainnet/v2/…${apiKey.slice(-4)}`,
  })
  expect(reachableStrings(config).filter((text) => text.includes(apiKey))).toEqual([])
})
