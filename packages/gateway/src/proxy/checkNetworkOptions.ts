import { isNetworkName, networkNameRule } from '../lib/network.ts'
import type { Network } from '../lib/network.ts'
import { checkNetworkLimits, checkWeights } from './checkLimits.ts'
import { checkInteger, checkSwitch, getMembers, maxMs } from './checkOption.ts'
import { checkUpstreams } from './checkUpstreamOptions.ts'
import type { CheckedUpstream } from './checkUpstreamOptions.ts'
import { defaultMaxLagBlocks } from './gatewayOptions.ts'
import type { NetworkLimits } from './gatewayOptions.ts'
import type { MethodWeights } from './method/weights.ts'
import type { LoadBalancing } from './upstream/upstreamOptions.ts'

/** Checked options of one network. */
export interface CheckedNetwork {
  readonly chainId: number
  readonly aliases: readonly string[]
  readonly upstreams: readonly CheckedUpstream[]
  readonly loadBalancing: LoadBalancing
  readonly maxLagBlocks: number
  readonly hedgeMs: number | 'p95' | undefined
  readonly splitLogs: boolean
  readonly checkLogs: boolean
  /** Its own, and those of the gateway. */
  readonly limits: Required<NetworkLimits>
  /** Without those of 1. `undefined`: those of the gateway. */
  readonly weights: MethodWeights | undefined
}

/**
 * Checks `networks`.
 * @param limits - Those of the gateway, for networks without their own.
 * @throws {TypeError} that names the option.
 */
export const checkNetworks = (
  given: unknown,
  limits: Required<NetworkLimits>,
): ReadonlyMap<Network, CheckedNetwork> => {
  const entries = typeof given === 'object' && given !== null && !Array.isArray(given) ? Object.entries(given) : []
  if (entries.length === 0)
    throw new TypeError('networks must be an object with at least one network, by its name, such as "ethereum-mainnet"')
  const networks = new Map<Network, CheckedNetwork>()
  const names = new Set(entries.map(([name]) => name))
  for (const [name, options] of entries) {
    if (!isNetworkName(name)) throw new TypeError(`a name in networks ${networkNameRule}`)
    const network = checkNetwork(name, options as unknown, limits)
    for (const alias of network.aliases) {
      if (names.has(alias))
        throw new TypeError(`networks.${name}.aliases has the name of another network or an alias twice: remove it`)
      names.add(alias)
    }
    networks.set(name, network)
  }
  return networks
}

const checkAliases = (aliases: unknown, option: string): readonly string[] => {
  if (aliases === undefined) return []
  if (!Array.isArray(aliases) || !aliases.every((alias) => typeof alias === 'string' && isNetworkName(alias)))
    throw new TypeError(`${option} must be a list of names. A name ${networkNameRule}`)
  return [...(aliases as string[])]
}

const known = [
  'chainId',
  'aliases',
  'upstreams',
  'loadBalancing',
  'maxLagBlocks',
  'hedgeMs',
  'splitLogs',
  'checkLogs',
  'limits',
  'weights',
]

const checkNetwork = (network: Network, options: unknown, defaults: Required<NetworkLimits>): CheckedNetwork => {
  const option = `networks.${network}`
  const {
    chainId,
    aliases,
    upstreams,
    loadBalancing = 'order',
    maxLagBlocks = defaultMaxLagBlocks,
    hedgeMs,
    splitLogs = true,
    checkLogs = true,
    limits,
    weights,
  } = getMembers(options, option, known)
  if (loadBalancing !== 'order' && loadBalancing !== 'spread')
    throw new TypeError(`${option}.loadBalancing must be 'order' or 'spread'`)
  return {
    chainId: checkInteger(chainId, `${option}.chainId`, Number.MAX_SAFE_INTEGER),
    aliases: checkAliases(aliases, `${option}.aliases`),
    loadBalancing,
    maxLagBlocks: checkInteger(maxLagBlocks, `${option}.maxLagBlocks`, Number.MAX_SAFE_INTEGER),
    hedgeMs: checkHedge(hedgeMs, `${option}.hedgeMs`),
    splitLogs: checkSwitch(splitLogs, `${option}.splitLogs`),
    checkLogs: checkSwitch(checkLogs, `${option}.checkLogs`),
    limits: checkNetworkLimits(limits, `${option}.limits`, defaults),
    weights: weights === undefined ? undefined : checkWeights(weights, `${option}.weights`),
    upstreams: checkUpstreams(upstreams, network, loadBalancing),
  }
}

const checkHedge = (hedgeMs: unknown, option: string): number | 'p95' | undefined => {
  if (hedgeMs === undefined || hedgeMs === 'p95') return hedgeMs
  if (typeof hedgeMs === 'number' && Number.isSafeInteger(hedgeMs) && hedgeMs >= 1 && hedgeMs <= maxMs) return hedgeMs
  throw new TypeError(`${option} must be a whole number from 1 to ${maxMs}, or 'p95'`)
}
