import type { Network } from '../lib/network.ts'
import type { PermitStore } from '../usage/limits/createPermits.ts'
import { createTrafficCounts } from '../usage/traffic/createNodeTraffic.ts'
import type { GatewayConfig, GatewayParts } from './gatewayOptions.ts'
import type { LogEntry } from './log.ts'
import type { MethodWeights } from './method/weights.ts'
import type { NetworkOptions } from './options/networkOptions.ts'
import type { GatewayContext } from './request/gatewayContext.ts'
import { createUpstreamGroup } from './upstream/createUpstreamGroup.ts'
import type { UpstreamGroup, UpstreamGroupOptions } from './upstream/createUpstreamGroup.ts'
import { createBudget, createSecondUsage } from './upstream/health/createBudget.ts'
import type { SecondUsage } from './upstream/health/createBudget.ts'

type GroupOptions = Omit<UpstreamGroupOptions, 'createBudget' | 'saved' | 'checks' | 'chainStore' | 'log'>

const toGroupOptions = (
  network: Network,
  {
    bounds,
    weights: _weights,
    methods: _methods,
    methodPresets: _presets,
    confirm: _confirm,
    confirmByCallers: _byCallers,
    ...options
  }: NetworkOptions,
  rewritable: boolean,
): GroupOptions => ({
  network,
  ...options,
  timeoutMs: bounds.upstreamTimeoutMs,
  // Callers can rewrite the chain of a development node, so nothing of it is final.
  maxCacheBytes: rewritable ? 0 : bounds.maxCacheBytes,
  maxFilters: bounds.maxFilters,
  rewritable,
})

/** Whether a network has the same nodes and uses them in the same way. Compares by value: JSON writes a URL as its text. */
const isSameGroup = (one: NetworkOptions | undefined, other: NetworkOptions): boolean =>
  one !== undefined && toGroupKey(one) === toGroupKey(other)

const toGroupKey = (options: NetworkOptions): string => JSON.stringify(toGroupOptions('', options, false))

const getWeights = ({ weights, methods }: NetworkOptions, defaults: MethodWeights): MethodWeights => ({
  ...(weights ?? defaults),
  ...Object.fromEntries(
    Object.entries(methods).flatMap(([name, { weight }]) => (weight === undefined ? [] : [[name, weight]])),
  ),
})

/** What the upstreams of all networks share. */
export interface GroupParts extends Pick<
  GatewayParts,
  'chainStore' | 'checks' | 'developmentMethods' | 'traffic' | 'getInstances' | 'now'
> {
  /** Those of the daily budgets. Close them after the groups. */
  readonly permits: PermitStore
}

/**
 * Creates the function that creates the upstreams of a config's networks.
 * @returns The function. An unchanged network keeps its connections, cache and health: it gets the group that it had before.
 */
export const createGroupFactory = (
  parts: GroupParts,
  log: (entry: LogEntry) => void,
): ((config: GatewayConfig, before?: GatewayContext) => ReadonlyMap<Network, UpstreamGroup>) => {
  const { chainStore, checks, developmentMethods, permits, getInstances, now } = parts
  const { traffic = createTrafficCounts() } = parts
  /** What upstreams were sent in the current second, by network and name. It survives a reload, so that reloading the config resets no budget. */
  const seconds = new Map<string, SecondUsage>()
  /** Those of the current config, by network. */
  let weights: ReadonlyMap<Network, MethodWeights> = new Map()
  const create = (network: Network, options: NetworkOptions): UpstreamGroup =>
    createUpstreamGroup({
      ...toGroupOptions(network, options, developmentMethods === 'all'),
      createBudget: (upstream) => {
        const id = `${network}/${upstream.name}`
        const second = seconds.get(id) ?? createSecondUsage()
        seconds.set(id, second)
        return createBudget(upstream, {
          id,
          permits,
          sent: traffic.ofNode(network, upstream.name),
          second,
          getInstances,
          getWeights: () => weights.get(network),
          now,
        })
      },
      saved: traffic.ofNetwork(network),
      checks,
      // Callers can rewrite the chain of a development node.
      chainStore: options.cache && developmentMethods !== 'all' ? chainStore : undefined,
      log,
    })
  return ({ networks, weights: defaults }, before) => {
    weights = new Map([...networks].map(([network, options]) => [network, getWeights(options, defaults)]))
    return new Map(
      [...networks].map(([network, options]) => {
        const isSame = isSameGroup(before?.config.networks.get(network), options)
        return [network, (isSame ? before?.networks.get(network)?.group : undefined) ?? create(network, options)]
      }),
    )
  }
}
