import { getUtcDay } from '../lib/utcDay.ts'
import type { UtcDay } from '../lib/utcDay.ts'
import type { ChargedQuota } from '../storage/alerts.ts'
import { createId } from '../storage/createId.ts'
import { alertLevels, createQuotaEvent } from './alertEvent.ts'
import type { AlertsOptions } from './alertsOptions.ts'

const quotasAtOnce = 500

/** The highest level that is reached; 0 if none is. */
const getLevel = (used: number, limit: number): number =>
  alertLevels.findLast((level) => used * 100 >= limit * level) ?? 0

const create = async (
  { now, storage }: AlertsOptions,
  quota: ChargedQuota,
  { level, used, limit, day }: { level: number; used: number; limit: number; day: UtcDay },
): Promise<void> => {
  const at = now()
  await storage.transaction(async ({ alerts }) => {
    // Lower levels that were skipped must not follow.
    const added: number[] = []
    for (const each of alertLevels)
      if (each <= level && (await alerts.add({ quota: quota.id, day: day.day, level: each, now: at }))) added.push(each)
    if (!added.includes(level)) return
    const { app, user } = quota
    const event = createQuotaEvent({
      id: createId('evt'),
      level,
      used,
      limit,
      account: app === null ? { type: 'apiKeys' } : { type: 'app', id: app.id, name: app.name },
      user: { id: user.id, email: user.email },
      day,
      now: at,
    })
    for (const recipient of await alerts.listRecipients(user.id, { operators: true }))
      await alerts.addDelivery({ ...recipient, event: JSON.stringify(event), now: at })
  })
}

/** Looks for quotas that are nearly used up. If two instances do, the primary key of an alert decides which of them creates it. */
export const findQuotaAlerts = async (options: AlertsOptions, stopped: () => boolean): Promise<void> => {
  const { now, storage, usageLimits } = options
  const day = getUtcDay(now())
  for (let after: string | undefined = ''; after !== undefined && !stopped();) {
    const page = await storage.alerts.listCharged({ day: day.day, after, limit: quotasAtOnce })
    for (const quota of page.items) {
      const perDay = options.getPerDay(quota)
      if (perDay === null || perDay === 0 || getLevel(quota.charged, perDay) <= quota.alerted) continue
      // The charged units include reserved ones; this count is exact.
      const { day: window } = await usageLimits.usage({ id: quota.id, perDay, perMonth: null })
      const level = getLevel(window.used, perDay)
      if (level > quota.alerted) await create(options, quota, { level, used: window.used, limit: perDay, day })
    }
    after = page.last
  }
}
