import type { KeyLimits } from '../auth/key/keyStore.ts'
import type { Network } from '../lib/network.ts'
import type { MethodWeights } from '../proxy/method/weights.ts'
import type { ConfigFault } from './configError.ts'
import type { RunningConfig } from './runningConfig.ts'

/** The limits on one network: its own, and otherwise those of the config. */
export interface ResolvedLimits {
  readonly apps: KeyLimits
  readonly apiKeys: KeyLimits
  readonly weights: MethodWeights
  /** The accounts with a rate of the network. Their calls there have a bucket of their own. */
  readonly ownRates: { readonly apps: boolean; readonly apiKeys: boolean }
}

/** The limits of the networks that have their own, or weights of their methods. */
export type LimitsByNetwork = Readonly<Record<Network, ResolvedLimits>>

const kinds = ['apps', 'apiKeys'] as const

type LimitsConfig = Pick<RunningConfig, 'limits' | 'networks'>

/** Resolves the limits of each network that has its own. Do it once for each config. */
export const resolveNetworkLimits = ({ limits, networks }: LimitsConfig): LimitsByNetwork => {
  const resolved: Record<Network, ResolvedLimits> = {}
  for (const [network, { limits: own, methods }] of Object.entries(networks)) {
    const weighted = Object.entries(methods).flatMap(([name, { weight }]) =>
      weight === undefined ? [] : [[name, weight]],
    )
    if (own === undefined && weighted.length === 0) continue
    resolved[network] = {
      apps: { ...limits.apps, ...own?.apps },
      apiKeys: { ...limits.apiKeys, ...own?.apiKeys },
      weights: { ...limits.weights, ...own?.weights, ...Object.fromEntries(weighted) },
      ownRates: { apps: own?.apps !== undefined, apiKeys: own?.apiKeys !== undefined },
    }
  }
  return resolved
}

/** Finds weights above a burst on networks with limits of their own: such calls would never be granted. */
export const findNetworkLimitFaults = (config: LimitsConfig): readonly ConfigFault[] => {
  const faults: ConfigFault[] = []
  for (const [network, resolved] of Object.entries(resolveNetworkLimits(config)))
    for (const [method, weight] of Object.entries(resolved.weights))
      for (const kind of kinds) {
        const { burst } = resolved[kind]
        if (weight > burst)
          faults.push({
            path: `networks.${network}.limits`,
            fix: `counts ${method} as ${weight}, above the burst of ${kind} there, which is ${burst}. A call above the burst is never granted: set a lower weight or a higher burst for this network`,
          })
      }
  return faults
}
