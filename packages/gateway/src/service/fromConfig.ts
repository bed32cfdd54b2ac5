import type { GatewayOptions } from '../proxy/gatewayOptions.ts'
import { narrowLimits, resolveLimits } from '../auth/key/keyLimits.ts'
import type { KeyLimits } from '../auth/key/keyStore.ts'
import type { UsageRetention } from '../usage/metering/rollUp.ts'
import { dayMs } from '../usage/metering/usageRows.ts'
import type { Network } from '../lib/network.ts'
import type { Access } from '../storage/access.ts'
import type { RunningConfig } from './runningConfig.ts'

/** The limits in force for a key: its user's, narrowed by its app's. */
export const limitsOf = ({ limits: { apps, apiKeys } }: RunningConfig, { app, user }: Access): KeyLimits => {
  const ofUser = resolveLimits([user.limits], app === null ? apiKeys : apps)
  return app === null ? ofUser : narrowLimits(app.limits, ofUser)
}

/** How long counts of usage are kept. */
export const retentionOf = ({ retention: { minutesDays, hoursDays, daysDays } }: RunningConfig): UsageRetention => ({
  minutesMs: minutesDays * dayMs,
  hoursMs: hoursDays * dayMs,
  daysMs: daysDays * dayMs,
})

/**
 * Where callers reach the networks, and browsers the dashboard.
 * @param listeningUrl - Where it listens; before that nobody asks.
 */
export const urlsOf = (
  config: RunningConfig,
  listeningUrl: string | undefined,
): { readonly networks: string; readonly site: string } => {
  const networks = config.publicUrl ?? listeningUrl ?? 'http://localhost'
  return { networks, site: config.control?.publicUrl ?? networks }
}

/** What the gateway is told of a network. Of an upstream it is its URL, however the config was told that. */
export const networkOptions = (config: RunningConfig, network: Network): GatewayOptions['networks'][Network] => {
  const { upstreams, ...rest } = config.networks[network]
  return {
    ...rest,
    upstreams: upstreams.map(({ url = '', name }) => ({ url, ...(name === undefined ? {} : { name }) })),
  }
}
