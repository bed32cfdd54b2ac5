import { dayMs, minuteMs } from '../lib/time.ts'
import { getUtcDay } from '../lib/utcDay.ts'
import { takeLease } from '../storage/lease.ts'
import type { AlertsOptions } from './alertsOptions.ts'
import { createServiceAlerts } from './createServiceAlerts.ts'
import type { ServiceAlerts } from './createServiceAlerts.ts'
import { deliverAlerts } from './deliverAlerts.ts'
import { findCallAlerts } from './findCallAlerts.ts'
import { findQuotaAlerts } from './findQuotaAlerts.ts'

const leaseMs = 3 * minuteMs
const retentionMs = 30 * dayMs
const pruneAtOnce = 500

/** The jobs of alerts. They run apart, so that receivers who do not respond delay no other alert. */
export interface Alerts {
  /**
   * Looks for what users and operators must know. It reads what the service has counted and written, so no call waits for it. One instance at a
   * time runs it; if two do, the database decides which of them starts an alert.
   */
  find(stopped: () => boolean): Promise<void>
  /** Sends what is due. Each instance does, and the database decides which of them sends an alert. */
  deliver(stopped: () => boolean): Promise<void>
}

/** Creates the jobs. */
export const createAlerts = (options: AlertsOptions): Alerts => {
  const service = createServiceAlerts(options)
  return {
    find: (stopped) => find(options, service, stopped),
    deliver: (stopped) => deliverAlerts(options, stopped),
  }
}

const find = async (options: AlertsOptions, service: ServiceAlerts, stopped: () => boolean): Promise<void> => {
  const { storage, leader, now } = options
  service.observe(await options.readProblems())
  await service.sendWithoutDatabase()
  const isLeader = await takeLease(storage, 'alert_state', { leader, now: now(), leaseMs })
  await service.update(isLeader)
  if (!isLeader) return
  // One that fails does not stop the other.
  const [quotas, calls] = await Promise.allSettled([
    findQuotaAlerts(options, stopped),
    findCallAlerts(options, stopped),
  ])
  const today = getUtcDay(now())
  const before = now() - retentionMs
  await storage.alerts.prune({ day: today.day - 1, before, limit: pruneAtOnce })
  for (const one of [quotas, calls]) if (one.status === 'rejected') throw one.reason
}
