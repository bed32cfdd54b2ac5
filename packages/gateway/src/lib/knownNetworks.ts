import known from './knownNetworks.json' with { type: 'json' }

/** The chain that a network belongs to: what its networks share. */
export interface KnownChain {
  /** Its name for people. */
  readonly title: string
}

/** What Keyrail knows about a network, so that an operator only has to list its nodes. */
export interface KnownNetwork {
  /** The slug of its chain, a key of `knownChains`. */
  readonly chain: string
  /** Its name for people: the chain's title and the name of the network. */
  readonly title: string
  /** Its chain id (EIP-155). */
  readonly chainId: number
  /** The symbol of its native currency. */
  readonly symbol: string
  /** Whether its currency has no value. */
  readonly testnet: boolean
  /** Other names that hosted providers and tools use for it. No alias is also a slug or the alias of another network. */
  readonly aliases: readonly string[]
  /** The URL of its block explorer, without a slash at the end. Absent if there is none. */
  readonly explorerUrl?: string
}

/** The chains of `knownNetworks` by slug. */
export const knownChains: Readonly<Record<string, KnownChain>> = known.chains

/**
 * The most used EVM networks by slug, which is the slug of the chain and the name of the network: `ethereum-mainnet`, `base-sepolia`,
 * `arbitrum-one`. `scripts/knownNetworks.ts` generates them from the chains of viem.
 */
export const knownNetworks: Readonly<Record<string, KnownNetwork>> = known.networks
