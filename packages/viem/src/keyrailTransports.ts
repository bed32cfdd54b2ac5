import { check, checkObject } from '@keyrail/core/internal'
import type { EndpointUrlOptions, FeatureOptions, TransportOptions } from '@keyrail/core'
import { keyrail } from './keyrail.ts'
import type { KeyrailTransport, KeyrailTransportConfig } from './keyrailTransport.ts'
import networkNames from './networkNames.json' with { type: 'json' }

/** The members of an endpoint's options that are equal for all chains. */
type SharedUrlOptions<Options = EndpointUrlOptions> = Options extends unknown
  ? Omit<Options, 'network' | 'chainId'>
  : never

/** Options of {@link keyrailTransports}: those of {@link keyrail} with one endpoint, but without `network` and `chainId`. */
export type KeyrailTransportsOptions<ChainId extends number = number> = SharedUrlOptions &
  FeatureOptions & {
    /**
     * The names of networks by chain id, for chains that Keyrail does not know and for networks that the service calls differently.
     * @default names such as `'ethereum-mainnet'`, `'ethereum-sepolia'`, `'base-mainnet'` and `'arbitrum-one'`
     */
    readonly networks?: { readonly [Id in ChainId]?: string | undefined } | undefined
  }

/**
 * Creates a viem transport for each chain of an app, for the `transports` of wagmi's `createConfig`. Each one requests its chain's own network, and
 * fails with kind `wrongNetwork` if a node is on another chain. Limits such as `maxInFlight` and `budget` apply to each chain.
 *
 * @param options - The options of {@link keyrail}, with `{network}` in the URL, or a record with a URL for each network.
 * @param chains - The chains, such as those of `viem/chains`.
 * @param config - Options of viem's own transports.
 * @returns The transports by chain id.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, or a chain whose network has no name. The message says how to fix it.
 * @example
 * import { base, mainnet, sepolia } from 'viem/chains'
 *
 * const chains = [mainnet, base, sepolia] as const
 * const transports = keyrailTransports({ baseUrl: 'https://node.example/{network}', apiKey: 'kr_a…' }, chains)
 * // createConfig({ chains, transports })
 */
export function keyrailTransports<const Chains extends readonly { readonly id: number }[]>(
  options: KeyrailTransportsOptions<Chains[number]['id']>,
  chains: Chains,
  config?: KeyrailTransportConfig,
): Record<Chains[number]['id'], KeyrailTransport> {
  checkObject('keyrailTransports', options)
  const { networks, ...shared } = options as KeyrailTransportsOptions
  check(
    Array.isArray(chains) && chains.every((chain) => typeof Object(chain).id === 'number'),
    'The second argument of keyrailTransports must be an array of chains, such as [mainnet, base].',
  )
  check(
    !('network' in shared || 'chainId' in shared),
    'keyrailTransports takes no network and no chainId: each chain has its own. To name a network differently, use networks.',
  )
  const name = (['baseUrl', 'rpcUrl', 'url'] as const).find((option) => shared[option] !== undefined)
  check(
    name,
    'The URL is missing. Pass url, or baseUrl or rpcUrl with apiKey. For failover or a transport of your own, call keyrail() for each chain.',
  )
  const url = shared[name]
  check(
    typeof url !== 'string' || url.includes('{network}'),
    `${name} is the same for all chains. Write {network} where the name of the network belongs, such as https://node.example/{network}.`,
  )
  const names: Readonly<Record<number, string>> = networkNames
  const transports = chains.map(({ id }): [number, KeyrailTransport] => {
    const network = networks?.[id] ?? names[id]
    check(network !== undefined, `The network of chain ${id} has no known name. Pass it: networks: { ${id}: 'name' }.`)
    return [id, keyrail({ ...shared, network, chainId: id } as TransportOptions, config)]
  })
  return Object.fromEntries(transports) as Record<Chains[number]['id'], KeyrailTransport>
}
