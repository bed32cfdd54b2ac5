import { narrowLimits, resolveLimits } from '../auth/key/keyLimits.ts'
import type { KeyLimits } from '../auth/key/keyStore.ts'
import type { NetworkOptions } from '../proxy/gatewayOptions.ts'
import type { Access } from '../storage/access.ts'
import type { UsageRetention } from '../usage/metering/usagePlan.ts'
import { dayMs } from '../usage/metering/usageTime.ts'
import type { UpstreamHeaders } from '../proxy/upstream/upstreamHeaders.ts'
import type { RunningConfig } from './runningConfig.ts'

/** The limits of a key: its user's, narrowed by its app's. */
export const toKeyLimits = ({ limits: { apps, apiKeys } }: RunningConfig, { app, user }: Access): KeyLimits => {
  const userLimits = resolveLimits([user.limits], app === null ? apiKeys : apps)
  return app === null ? userLimits : narrowLimits(app.limits, userLimits)
}

/** How long usage counts are stored. */
export const toRetention = ({ retention: { minutesDays, hoursDays, daysDays } }: RunningConfig): UsageRetention => ({
  minutesMs: minutesDays * dayMs,
  hoursMs: hoursDays * dayMs,
  daysMs: daysDays * dayMs,
})

/** Where callers reach the networks, and browsers the dashboard. */
export interface ServiceUrls {
  readonly networks: string
  readonly site: string
}

/** @param getListeningUrl - The default for `publicUrl`; undefined before the service listens. */
export const toUrls = (config: RunningConfig, getListeningUrl: string | undefined): ServiceUrls => {
  const networks = config.publicUrl ?? getListeningUrl ?? 'http://localhost'
  return { networks, site: config.control?.publicUrl ?? networks }
}

/** The gateway's options for a network. `readServiceConfig` has replaced the variables and files of its URLs. */
export const toNetworkOptions = (network: RunningConfig['networks'][string]): NetworkOptions => {
  const { upstreams, chain: _, title: _title, symbol: _symbol, testnet: _testnet, explorerUrl: _url, ...rest } = network
  return {
    ...rest,
    upstreams: upstreams.map(
      ({ urlEnv: _e, urlFile: _f, wsUrlEnv: _we, wsUrlFile: _wf, url = '', headers, ...options }) => ({
        ...options,
        url,
        // `readServiceConfig` has read the headers in files. The gateway rejects any that are left.
        ...(headers === undefined ? {} : { headers: headers as UpstreamHeaders }),
      }),
    ),
  }
}
