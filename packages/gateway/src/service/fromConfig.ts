import { narrowLimits, resolveLimits } from '../auth/key/keyLimits.ts'
import type { LimitSource } from '../auth/key/createStoredKeys.ts'
import type { KeyLimits, KeyRate } from '../auth/key/keyStore.ts'
import type { ControlConfig, Deployment } from '../control/controlOptions.ts'
import type { Network } from '../lib/network.ts'
import type { UsageRetention } from '../usage/metering/usagePlan.ts'
import { dayMs } from '../lib/time.ts'
import type { LimitsByNetwork } from './networkLimits.ts'
import type { RunningConfig } from './runningConfig.ts'

/**
 * The limits of a key: its user's, narrowed by its app's. If they have none of their own, a network's rate takes the place of the config's.
 * @param byNetwork - From `resolveNetworkLimits`.
 */
export const toKeyLimits = (
  { limits }: Pick<RunningConfig, 'limits'>,
  byNetwork: LimitsByNetwork,
  { app, user, networks }: LimitSource,
): KeyLimits => {
  const kind = app === null ? 'apiKeys' : 'apps'
  const resolve = (defaults: KeyLimits): KeyLimits => {
    const userLimits = resolveLimits([user.limits], defaults)
    return app === null ? userLimits : narrowLimits(app.limits, userLimits)
  }
  const own = networks.flatMap((network): [Network, KeyRate][] => {
    const found = byNetwork[network]
    if (found?.ownRates[kind] !== true) return []
    const { perSecond, burst } = resolve(found[kind])
    return [[network, { perSecond, burst }]]
  })
  const resolved = resolve(limits[kind])
  return own.length === 0 ? resolved : { ...resolved, networks: Object.fromEntries(own) }
}

/** How long usage counts are stored. */
export const toRetention = ({ retention: { minutesDays, hoursDays, daysDays } }: RunningConfig): UsageRetention => ({
  minutesMs: minutesDays * dayMs,
  hoursMs: hoursDays * dayMs,
  daysMs: daysDays * dayMs,
})

/** The URL of the networks and of the dashboard. */
export interface ServiceUrls {
  readonly networks: string
  readonly site: string
}

/** @param getListeningUrl - The default for `publicUrl`; undefined before the service listens. */
export const toUrls = (config: RunningConfig, getListeningUrl: string | undefined): ServiceUrls => {
  const networks = config.publicUrl ?? getListeningUrl ?? 'http://localhost'
  return { networks, site: config.control?.publicUrl ?? networks }
}

/**
 * What the control API needs of the config.
 * @param byNetwork - From `resolveNetworkLimits`.
 */
export const toControlConfig = (config: RunningConfig, byNetwork: LimitsByNetwork): ControlConfig => ({
  signUp: config.signUp,
  email: config.email !== undefined,
  passwordLogin: config.passwordLogin,
  requireSecondFactor: config.requireSecondFactor,
  oidc: config.oidc && { label: config.oidc.label },
  reveal: config.reveal === 'onDemand',
  registries: config.registries,
  recordsRequests: config.requestLog.enabled,
  docsUrl: config.docsUrl,
  maxApps: config.limits.appsPerUser,
  limits: { app: config.limits.apps, apiKey: config.limits.apiKeys },
  weights: config.limits.weights,
  networks: byNetwork,
})

/**
 * The networks and URLs, as the control API shows them.
 * @param listeningUrl - The default for `publicUrl`; undefined before the service listens.
 */
export const toDeployment = (config: RunningConfig, listeningUrl: string | undefined): Deployment => {
  const { networks: publicUrl, site: controlUrl } = toUrls(config, listeningUrl)
  const privateTransactions = Object.values(config.networks).some(({ upstreams }) =>
    upstreams.some((upstream) => upstream.privateTransactions),
  )
  return { publicUrl, controlUrl, chains: config.chains, networks: config.networks, privateTransactions }
}
