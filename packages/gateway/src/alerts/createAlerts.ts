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

/**
 * Creates the job that looks for what users and operators must know, and delivers alerts about it. It reads what the service has counted and written,
 * so no call waits for it. One instance at a time runs it; if two do, the database decides which of them starts an alert.
 */
export const createAlerts = (options: AlertsOptions): { run(stopped: () => boolean): Promise<void> } => {
  const service = createServiceAlerts(options)
  return { run: (stopped) => run(options, service, stopped) }
}

const run = async (options: AlertsOptions, service: ServiceAlerts, stopped: () => boolean): Promise<void> => {
  const { storage, leader, now } = options
  service.observe(await options.readProblems())
  await service.sendWithoutDatabase()
  const isLeader = await takeLease(storage, 'alert_state', { leader, now: now(), leaseMs })
  await service.update(isLeader)
  if (!isLeader) return
  await findQuotaAlerts(options, stopped)
  await findCallAlerts(options, stopped)
  await deliverAlerts(options, stopped)
  const today = getUtcDay(now())
  const before = now() - retentionMs
  await storage.alerts.prune({ day: today.day - 1, before, limit: pruneAtOnce })
}
