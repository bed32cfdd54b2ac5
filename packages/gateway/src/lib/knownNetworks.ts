import data from './knownNetworks.json' with { type: 'json' }
import type { Network, NetworkDetails } from './network.ts'

/** A network that is used a lot. */
export interface KnownNetwork extends NetworkDetails {
  readonly name: Network
}

const chains: Readonly<Record<string, { readonly title: string }>> = data.chains
const networks = new Map<Network, KnownNetwork>(
  Object.entries<NetworkDetails>(data.networks).map(([name, details]) => [name, { name, ...details }]),
)
const byAlias = new Map(
  [...networks.values()].flatMap((known) => known.aliases.map((alias) => [alias, known] as const)),
)
const byChainId = new Map([...networks.values()].map((known) => [known.chainId, known]))

/**
 * Finds a well-known network by its name or an alias, or else by its chain id.
 * @param chainId - If it is given, a network of this name with another chain id is not meant.
 */
export const findKnownNetwork = (name: Network, chainId: number | undefined): KnownNetwork | undefined => {
  if (chainId !== undefined) return byChainId.get(chainId)
  return networks.get(name) ?? byAlias.get(name)
}

/** Lists all well-known networks. */
export const listKnownNetworks = (): readonly KnownNetwork[] => [...networks.values()]

/** Gets the title of a well-known chain. */
export const getKnownChainTitle = (chain: string): string | undefined =>
  Object.hasOwn(chains, chain) ? chains[chain]?.title : undefined
