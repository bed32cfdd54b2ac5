import type { SearchOption } from '../parts/SearchSelect.tsx'
import type { NetworkView } from './searchNetworks.ts'

/** A network as an entry of a search field. */
export const toNetworkOption = ({ network, title, symbol, chainId }: NetworkView): SearchOption => ({
  value: network,
  title,
  what: `${title === network ? '' : `${network}, `}${symbol}, chain id ${chainId}`,
})
