import { resolveLimits } from '../../auth/key/keyLimits.ts'
import type { KeyLimits } from '../../auth/key/keyStore.ts'
import type { Network } from '../../lib/network.ts'
import { normalizeWeights } from '../../proxy/method/weights.ts'
import type { QuotaWindow, UsageLimits } from '../../usage/limits/usageLimits.ts'
import type { LimitsView, NetworkLimitsView, UsageView, UsageWindow } from '../contract/controlApi.d.ts'
import type { ControlConfig, NetworkUsageLimits } from '../controlOptions.ts'
import type { Account } from '../account/account.ts'
import type { ControlParts } from '../route.ts'
import { isoTime } from './times.ts'

const toUsageWindow = ({ used, limit, resetAtMs }: QuotaWindow): UsageWindow => ({
  used,
  limit,
  remaining: limit === null ? null : Math.max(0, limit - used),
  resetAt: isoTime(resetAtMs),
})

/** The quota that a usage view is for. */
export interface UsageSubject {
  /** `user:usr_…` or `app:app_…`. */
  readonly id: string
  readonly kind: 'app' | 'apiKey'
  /** Applies the limits of the account and of the app to the defaults of the config or of a network. */
  readonly resolve: (defaults: KeyLimits) => LimitsView
  /** Whether it can call a network. */
  readonly hasNetwork: (network: Network) => boolean
}

/** Gets the usage of an account's or an app's limits. */
export const toUsageView = async (
  usageLimits: Pick<UsageLimits, 'usage'>,
  { limits: defaults, weights, networks = {} }: ControlConfig,
  { id, kind, resolve, hasNetwork }: UsageSubject,
): Promise<UsageView> => {
  const limits = resolve(defaults[kind])
  const { day, month } = await usageLimits.usage({ id, perDay: limits.perDay, perMonth: limits.perMonth })
  const toNetworkView = (own: NetworkUsageLimits): NetworkLimitsView => {
    const { perSecond, burst } = resolve(kind === 'app' ? own.apps : own.apiKeys)
    return { perSecond, burst, weights: normalizeWeights(own.weights) }
  }
  return {
    day: toUsageWindow(day),
    month: toUsageWindow(month),
    limits,
    weights: normalizeWeights(weights),
    networks: Object.fromEntries(
      Object.entries(networks).flatMap(([network, own]) =>
        hasNetwork(network) ? [[network, toNetworkView(own)]] : [],
      ),
    ),
  }
}

/** Gets the usage of the limits that all API keys of an account share. */
export const readAccountUsage = async (
  { storage, usageLimits, config }: Pick<ControlParts, 'storage' | 'usageLimits' | 'config'>,
  { id, limits }: Pick<Account, 'id' | 'limits'>,
): Promise<UsageView> =>
  toUsageView(usageLimits, config(), {
    id: `user:${await storage.users.findQuotaOwner(id)}`,
    kind: 'apiKey',
    resolve: (defaults) => resolveLimits([limits], defaults),
    hasNetwork: () => true,
  })
