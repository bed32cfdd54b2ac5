import type { Network } from '../../lib/network.ts'
import type { UpstreamState, UpstreamStatus } from '../../proxy/upstream/groupMember.ts'
import type { NetworkStatusView, NodeCounts } from '../contract/controlApi.d.ts'

const countedAs: Readonly<Record<UpstreamStatus, keyof NodeCounts>> = {
  healthy: 'healthy',
  throttled: 'healthy',
  overBudget: 'healthy',
  syncing: 'lagging',
  lagging: 'lagging',
  unreachable: 'down',
  wrongChain: 'down',
  failing: 'down',
}

/**
 * Counts the nodes of each network by their state.
 * @param networks - The names of the networks. A network without nodes gets zeros.
 * @param upstreams - The nodes of all networks.
 * @param used - The networks that apps and API keys of the account have.
 */
export const toNetworkStatuses = (
  networks: readonly Network[],
  upstreams: readonly Pick<UpstreamState, 'network' | 'status'>[],
  used: ReadonlySet<Network>,
): readonly NetworkStatusView[] => {
  const counts = new Map(networks.map((network) => [network, { healthy: 0, lagging: 0, down: 0 }]))
  for (const { network, status } of upstreams) {
    const nodes = counts.get(network)
    if (nodes !== undefined) nodes[countedAs[status]] += 1
  }
  return Array.from(counts, ([network, nodes]) => ({ network, nodes, isOfAccount: used.has(network) }))
}
