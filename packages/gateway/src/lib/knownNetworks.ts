import type { MethodPreset } from '@keyrail/core/internal'
import known from './knownNetworks.json' with { type: 'json' }
import type { NetworkDetails } from './network.ts'

/** The chain that a network belongs to: what its networks share. */
export interface KnownChain {
  /** Its name for people. */
  readonly title: string
  /** The groups of methods beyond the specification that its nodes have. */
  readonly presets?: readonly MethodPreset[]
}

/** A well-known network. An operator only has to list its nodes. No alias is also a slug or the alias of another network. */
export type KnownNetwork = NetworkDetails

/** The chains of `knownNetworks` by slug. */
export const knownChains = known.chains as Readonly<Record<string, KnownChain>>

/**
 * The most used EVM networks by slug, which is the slug of the chain and the name of the network: `ethereum-mainnet`, `base-sepolia`,
 * `arbitrum-one`. `scripts/knownNetworks.ts` generates them from the chains of viem.
 */
export const knownNetworks: Readonly<Record<string, KnownNetwork>> = known.networks
