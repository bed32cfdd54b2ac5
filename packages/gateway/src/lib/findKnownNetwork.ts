import type { MethodPreset } from '@keyrail/core/internal'
import { knownChains, knownNetworks } from './knownNetworks.ts'
import type { KnownNetwork } from './knownNetworks.ts'
import type { Network } from './network.ts'

/** A well-known network and its name. */
export interface NamedNetwork extends KnownNetwork {
  readonly name: Network
}

const named = Object.entries(knownNetworks).map(([name, known]): NamedNetwork => ({ name, ...known }))
const byName = new Map(named.flatMap((known) => [known.name, ...known.aliases].map((name) => [name, known] as const)))
const byChainId = new Map(named.map((known) => [known.chainId, known]))

/** Finds a well-known network by its chain id, or without one by its name or an alias. */
export const findKnownNetwork = (name: Network, chainId: number | undefined): NamedNetwork | undefined =>
  chainId === undefined ? byName.get(name) : byChainId.get(chainId)

/** Lists all well-known networks. */
export const listKnownNetworks = (): readonly NamedNetwork[] => named

/** Gets the title of a well-known chain. */
export const getKnownChainTitle = (chain: string): string | undefined =>
  Object.hasOwn(knownChains, chain) ? knownChains[chain]?.title : undefined

/** Gets the groups of methods that the networks of a well-known chain have. @returns None for an unknown chain. */
export const getKnownPresets = (chain = ''): readonly MethodPreset[] =>
  (Object.hasOwn(knownChains, chain) ? knownChains[chain]?.presets : undefined) ?? []
