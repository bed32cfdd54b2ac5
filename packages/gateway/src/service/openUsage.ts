import type { Network } from '../lib/network.ts'
import type { MethodWeights } from '../proxy/method/weights.ts'
import type { Storage } from '../storage/openStorage.ts'
import { createAllowListUses } from '../usage/allowListUses/createAllowListUses.ts'
import type { AllowListUses } from '../usage/allowListUses/createAllowListUses.ts'
import { createAccountDays } from '../usage/limits/accountDays.ts'
import type { AccountDays } from '../usage/limits/accountDays.ts'
import { countDecisions } from '../usage/limits/countDecisions.ts'
import type { LimitCounts } from '../usage/limits/countDecisions.ts'
import { createLedger } from '../usage/limits/ledger.ts'
import { createLocalLimits } from '../usage/limits/createLocalLimits.ts'
import type { LocalLimitsOptions } from '../usage/limits/createLocalLimits.ts'
import { createPermits } from '../usage/limits/createPermits.ts'
import type { PermitStore } from '../usage/limits/createPermits.ts'
import type { UsageLimits } from '../usage/limits/usageLimits.ts'
import { createNodeTraffic } from '../usage/traffic/createNodeTraffic.ts'
import type { StoredNodeTraffic } from '../usage/traffic/createNodeTraffic.ts'
import { createMeter } from '../usage/metering/createMeter.ts'
import { joinAlongside } from '../usage/metering/joinAlongside.ts'
import type { Meter, StoredMeter } from '../usage/metering/meter.ts'
import { dayMs } from '../lib/time.ts'
import { createRequestRecorder } from '../usage/requestLog/createRequestRecorder.ts'
import type { StoredRequestRecorder } from '../usage/requestLog/createRequestRecorder.ts'
import { createRequestLogUpkeep } from '../usage/requestLog/requestLogUpkeep.ts'
import { withCallRates } from './createCallRates.ts'
import type { CallRates } from './createCallRates.ts'
import { toRetention } from './fromConfig.ts'
import type { RedisParts } from './openRedisParts.ts'
import type { Prometheus } from './prometheus.ts'
import type { RunningConfig } from './runningConfig.ts'
import type { ServiceLogEntry } from './serviceLog.ts'
import { withPrometheus } from './withPrometheus.ts'

/** What limits, counts and records calls. All of it is written in the transactions of one meter. */
export interface Usage {
  readonly limits: UsageLimits
  /** Permits of the daily budgets of nodes. */
  readonly permits: PermitStore
  /** What nodes were sent. */
  readonly traffic: StoredNodeTraffic
  readonly meter: Meter
  readonly requestRecorder: StoredRequestRecorder
  readonly allowListUses: AllowListUses
  readonly accountDays: AccountDays
  /** The state of the meter, for metrics. */
  readonly metering: StoredMeter['status']
  /** The decisions of the limits, for metrics. */
  readonly limitCounts: () => LimitCounts
  /** Writes what is not written yet. */
  close(): Promise<void>
}

/** The dependencies of {@link openUsage}. */
export interface UsageOptions {
  readonly storage: Storage
  /** Decides on limits. `undefined`: this process does, with the storage. */
  readonly redis: RedisParts | undefined
  /** Called for each request, so that a new config applies at once. */
  readonly config: () => RunningConfig
  readonly getWeights: (network: Network) => MethodWeights
  readonly prometheus: Prometheus | undefined
  /** Counts the calls of this instance for the overview. */
  readonly rates: Pick<CallRates, 'count'>
  readonly log: (entry: ServiceLogEntry) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Opens the limits, the meter, the request log and the record of used allow list entries. */
export const openUsage = (options: UsageOptions): Usage => {
  const { storage, redis, config, prometheus, rates, log, now } = options
  const { outageGrant, retention } = config()
  const accountDays = createAccountDays(storage)
  const ledger = redis && createLedger(accountDays)
  const traffic = createNodeTraffic({ rows: accountDays, now })
  const allowListUses = createAllowListUses({ storage, now })
  const requestRecorder = createRequestRecorder({
    storage,
    settings: () => {
      const settings = config().requestLog
      return settings.enabled ? settings : undefined
    },
    now,
  })
  const storedMeter = createMeter({
    storage,
    retention: toRetention(config()),
    now,
    onEvent: log,
    alongside: joinAlongside([...(ledger === undefined ? [] : [ledger]), traffic, requestRecorder, allowListUses]),
    upkeep: createRequestLogUpkeep(storage, { retentionMs: retention.requestsDays * dayMs }),
  })
  const meter = withCallRates(storedMeter, rates)
  const createLimits = (one: Pick<LocalLimitsOptions, 'outageGrant' | 'inAdvance' | 'now' | 'onEvent'>): UsageLimits =>
    redis === undefined || ledger === undefined
      ? createLocalLimits({ ...one, storage })
      : redis.createLimits({ ...one, rows: accountDays, ledger, flush: () => storedMeter.flush() })
  const uncounted = createLimits({ outageGrant, now, onEvent: log })
  // The budget of a node is never exceeded, so nothing of it is granted during an outage.
  const permits = createPermits({ limits: createLimits({ outageGrant: 0, inAdvance: 0, now }), now })
  const [counted, limitCounts] = countDecisions(uncounted)
  const limits = prometheus === undefined ? uncounted : counted
  return {
    limits,
    permits,
    traffic,
    meter: prometheus === undefined ? meter : withPrometheus(meter, prometheus, options.getWeights),
    requestRecorder,
    allowListUses,
    accountDays,
    metering: () => storedMeter.status(),
    limitCounts,
    close: async () => {
      // If one of them fails, the rest is still written.
      await Promise.allSettled([limits.close(), permits.close(), requestRecorder.close()])
      await storedMeter.close()
    },
  }
}
