import { afterEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { GatewayConfig } from '../proxy/gatewayOptions.ts'
import { ConfigError } from './configError.ts'
import { resolveNetworkLimits } from './networkLimits.ts'
import { parseServiceConfig } from './parseServiceConfig.ts'
import type { ServiceConfigInput } from './serviceConfig.ts'
import { toGatewayConfig } from './toGatewayConfig.ts'

const url = 'https://user:hunter22@secret.example/topsecrettoken'

const convert = (members: Partial<ServiceConfigInput>): GatewayConfig => {
  const networks = { testnet: { chainId: 7, upstreams: [{ url }] } }
  const config = parseServiceConfig({ publicUrl: 'https://rpc.example.org/', networks, ...members })
  return toGatewayConfig(config, resolveNetworkLimits(config), { tls: undefined, tracer: undefined })
}
const upstreamFault = (upstream: object): unknown => {
  try {
    return convert({ networks: { testnet: { chainId: 7, upstreams: [upstream] } } })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message
  }
}

describe('toGatewayConfig', () => {
  afterEach(() => {
    vi.resetModules()
  })

  test('fills in what a config leaves out', () => {
    const { publicUrl, bounds, networks } = convert({})
    expect(publicUrl).toBe('https://rpc.example.org')
    expect(bounds).toMatchObject({ headersTimeoutMs: 20_000, requestTimeoutMs: 60_000 })
    expect(networks.get('testnet')).toMatchObject({
      loadBalancing: 'order',
      maxLagBlocks: 8,
      bounds: { maxBatchCalls: 1_000, maxCacheBytes: 33_554_432 },
      weights: undefined,
      upstreams: [{ name: 'testnet-1', url: new URL(url), wsUrl: undefined, headers: {} }],
    })
  })

  test("takes a network's bounds and weights before those of the config", () => {
    const own = { bounds: { maxBatchCalls: 20 }, limits: { weights: { eth_call: 1, eth_getLogs: 75 } } }
    const { networks, weights } = convert({
      bounds: { maxBatchCalls: 500, maxFilters: 7 },
      limits: { weights: { eth_call: 5, eth_chainId: 1 } },
      networks: {
        testnet: { chainId: 7, upstreams: [{ url }], ...own },
        mainnet: { chainId: 8, upstreams: [{ url }] },
      },
    })
    expect(weights).toEqual({ eth_call: 5 })
    expect(networks.get('testnet')).toMatchObject({ bounds: { maxBatchCalls: 20, maxFilters: 7 } })
    expect(networks.get('testnet')?.weights).toEqual({ eth_getLogs: 75 })
    expect(networks.get('mainnet')).toMatchObject({ bounds: { maxBatchCalls: 500, maxFilters: 7 }, weights: undefined })
  })

  test('passes on an option that is only written in its shape', async () => {
    vi.resetModules()
    const { gatewayShape } = await import('../proxy/options/gatewayShape.ts')
    const { networkShape } = await import('../proxy/options/networkOptions.ts')
    for (const shape of [gatewayShape, networkShape]) Object.assign(shape, { extra: z.int().exactOptional() })
    const [parsing, converting] = await Promise.all([import('./parseServiceConfig.ts'), import('./toGatewayConfig.ts')])
    const testnet = { chainId: 7, upstreams: [{ url }], extra: 2 }
    const config = parsing.parseServiceConfig({ publicUrl: 'https://rpc.example.org', extra: 1, networks: { testnet } })
    const converted = converting.toGatewayConfig(config, resolveNetworkLimits(config), {
      tls: undefined,
      tracer: undefined,
    })
    expect(converted).toMatchObject({ extra: 1 })
    expect(converted.networks.get('testnet')).toMatchObject({ extra: 2 })
  })

  test('gives headers the time of the request if that is less', () => {
    expect(convert({ bounds: { requestTimeoutMs: 5_000 } }).bounds.headersTimeoutMs).toBe(5_000)
  })

  test.each([
    [
      'an authorization beside the user of the URL',
      { url, headers: { authorization: 'Bearer hunter22' } },
      'networks.testnet.upstreams[0].headers must not have "authorization" if the URL has a user or a password: remove one of them',
    ],
    [
      'a header whose file was not read',
      { url, headers: { 'x-key': { file: 'hunter22' } } },
      'networks.testnet.upstreams[0].headers has a wrong value for "x-key"',
    ],
    [
      'a URL whose variable was not read',
      { urlEnv: 'NODE_URL' },
      'networks.testnet.upstreams[0].url is missing: read the config with readServiceConfig',
    ],
  ])('rejects %s, without repeating a secret', (_, upstream, message) => {
    const fault = upstreamFault(upstream)
    expect(fault).toContain(message)
    expect(fault).not.toMatch(/hunter22|topsecret|secret\.example/)
  })
})
