import { getKnownChainTitle } from '../../lib/findKnownNetwork.ts'
import type { ChainView, NetworkView } from '../contract/controlApi.d.ts'
import type { Deployment } from '../controlOptions.ts'

/** Lists the networks of a service. */
export const toNetworkViews = ({ networks, publicUrl }: Deployment): readonly NetworkView[] =>
  Object.entries(networks).map(
    ([network, { chain, title, chainId, symbol, testnet, aliases, explorerUrl = null }]) => ({
      network,
      chain,
      title,
      chainId,
      symbol,
      testnet,
      aliases,
      explorerUrl,
      url: `${publicUrl.replace(/\/+$/, '')}/${network}`,
    }),
  )

/** Lists the chains of a service's networks. */
export const toChainViews = ({ networks, chains }: Deployment): readonly ChainView[] =>
  [...new Set(Object.values(networks).map(({ chain }) => chain))].map((chain) => ({
    chain,
    title: chains[chain]?.title ?? getKnownChainTitle(chain) ?? chain,
    aliases: chains[chain]?.aliases ?? [],
  }))
