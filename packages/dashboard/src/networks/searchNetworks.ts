import type { DeploymentView } from '@keyrail/gateway'
import { createSearch } from './createSearch.ts'

/** A network of the service. */
export type NetworkView = DeploymentView['networks'][number]

/** A chain of the service, with its networks. */
export interface ChainChoice {
  readonly chain: string
  readonly title: string
  readonly networks: readonly NetworkView[]
}

const getNetworkTerms = ({ title, network, symbol, aliases, chainId }: NetworkView): readonly string[] => [
  title,
  network,
  symbol,
  ...aliases,
  String(chainId),
]

/** Creates a search for networks by title, name, symbol, alias and chain id. */
export const searchNetworks = (networks: readonly NetworkView[]): ((text: string) => readonly NetworkView[]) =>
  createSearch(networks, getNetworkTerms)

/** Creates a search for chains by title, name and alias, and by what finds their networks. */
export const searchChains = ({
  chains,
  networks,
}: Pick<DeploymentView, 'chains' | 'networks'>): ((text: string) => readonly ChainChoice[]) => {
  const aliases = new Map(chains.map((one) => [one.chain, one.aliases]))
  return createSearch(
    chains.map(({ chain, title }) => ({ chain, title, networks: networks.filter((one) => one.chain === chain) })),
    (one) => [one.title, one.chain, ...(aliases.get(one.chain) ?? []), ...one.networks.flatMap(getNetworkTerms)],
  )
}
