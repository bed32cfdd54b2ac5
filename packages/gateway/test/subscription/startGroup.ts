import { createBudgetUsage } from '../../src/proxy/upstream/createBudget.ts'
import { createUpstreamGroup } from '../../src/proxy/upstream/createUpstreamGroup.ts'
import type { UpstreamGroup } from '../../src/proxy/upstream/createUpstreamGroup.ts'
import { chainIds } from '../startGateway.ts'

/** Starts a group of upstreams as a gateway has it: they are probed once when it resolves. Their names are `node-0`, `node-1` and so on. */
export const startGroup = async (urls: readonly string[]): Promise<UpstreamGroup> => {
  const group = createUpstreamGroup({
    network: 'testnet',
    chainId: chainIds.testnet,
    upstreams: urls.map((url, index) => ({ name: `node-${index}`, url: new URL(url), headers: {} })),
    loadBalancing: 'order',
    maxLagBlocks: 10,
    hedgeMs: undefined,
    splitLogs: false,
    rewritable: true,
    getBudgetUsage: createBudgetUsage,
    timeoutMs: 10_000,
    maxCacheBytes: 0,
    maxFilters: 10,
    log: () => {},
  })
  await group.start()
  return group
}
