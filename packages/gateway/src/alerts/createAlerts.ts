import { openKey } from '../lib/secrets/sealKey.ts'
import type { ServerSecret } from '../lib/secrets/serverSecret.ts'
import { dayMs, hourMs, minuteMs } from '../lib/time.ts'
import { getUtcDay } from '../lib/utcDay.ts'
import type { UtcDay } from '../lib/utcDay.ts'
import type { Email } from '../email/mailer.ts'
import type { AlertDelivery, ChargedQuota } from '../storage/alerts.ts'
import { createId } from '../storage/createId.ts'
import { takeLease } from '../storage/lease.ts'
import type { Storage } from '../storage/openStorage.ts'
import type { UsageLimits } from '../usage/limits/usageLimits.ts'
import { alertLevels, createAlertEvent, toAlertEmail } from './alertEvent.ts'
import type { AlertEvent } from './alertEvent.ts'
import type { WebhookRequest, WebhookResult } from './sendWebhook.ts'

/** A delivery whose last attempt failed. Contains no URL and no address. */
export interface AlertFailure {
  readonly event: 'alertFailed'
  readonly deliveryId: string
  readonly by: 'email' | 'webhook'
  readonly result: string
}

/** The dependencies of alerts. */
export interface AlertsOptions {
  readonly storage: Pick<Storage, 'alerts' | 'webhooks' | 'users' | 'members' | 'transaction' | 'db' | 'write'>
  readonly usageLimits: Pick<UsageLimits, 'usage'>
  /** The daily limit of a quota in units; `null`: no limit. */
  readonly getPerDay: (quota: ChargedQuota) => number | null
  /** The newest secret first. */
  readonly secrets: readonly ServerSecret[]
  readonly sendWebhook: (request: WebhookRequest) => Promise<WebhookResult>
  /** Sends an email. `undefined`: emails are off. */
  readonly sendEmail: () => ((email: Email) => Promise<void>) | undefined
  /** Describes an error of `sendEmail` without the address. */
  readonly describeEmailError: (error: unknown) => string
  /** The base of the dashboard. */
  readonly siteUrl: () => string
  readonly onEvent: (event: AlertFailure) => void
  /** Identifies this instance. */
  readonly leader: string
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Waits before the retries of a delivery, in milliseconds. */
const retryMs: readonly number[] = [minuteMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 6 * hourMs]
/** How long an attempt may take before another instance may repeat it, in milliseconds. */
const attemptMs = 5 * minuteMs
const leaseMs = 3 * minuteMs
const quotasAtOnce = 500
const deliveriesAtOnce = 20
const retentionMs = 30 * dayMs
const pruneAtOnce = 500

/** The highest level that is reached; 0 if none is. */
const getLevel = (used: number, limit: number): number =>
  alertLevels.findLast((level) => used * 100 >= limit * level) ?? 0

/**
 * Creates the job that looks for quotas that are nearly used up, and delivers alerts. It reads what the limits have written, so no call waits
 * for it. One instance at a time runs it; if two do, the primary key of an alert decides which of them creates it.
 */
export const createAlerts = (options: AlertsOptions): { run(stopped: () => boolean): Promise<void> } => ({
  run: (stopped) => run(options, stopped),
})

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
    const event = createAlertEvent({
      id: createId('evt'),
      type: 'quota.threshold',
      level,
      used,
      limit,
      account: app === null ? { type: 'apiKeys' } : { type: 'app', id: app.id, name: app.name },
      user: { id: user.id, email: user.email },
      day,
      now: at,
    })
    for (const recipient of await alerts.listRecipients(user.id))
      await alerts.addDelivery({ ...recipient, event: JSON.stringify(event), now: at })
  })
}

const find = async (options: AlertsOptions, stopped: () => boolean): Promise<void> => {
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

const sendEmail = async (options: AlertsOptions, { userId, event }: AlertDelivery): Promise<WebhookResult> => {
  const { storage } = options
  const send = options.sendEmail()
  const user = await storage.users.find(userId)
  if (send === undefined || user?.state !== 'active') return { ok: false, result: 'emailDisabled' }
  const parsed = JSON.parse(event) as AlertEvent
  try {
    const accountId = parsed.data.user.id
    const isOwner = accountId === userId || (await storage.members.find({ accountId, userId })) !== undefined
    await send(toAlertEmail(parsed, { to: user.email, isOwner, siteUrl: options.siteUrl() }))
    return { ok: true, result: 'sent' }
  } catch (error) {
    return { ok: false, result: options.describeEmailError(error) }
  }
}

const send = async (options: AlertsOptions, delivery: AlertDelivery): Promise<WebhookResult> => {
  const { storage } = options
  const { userId, webhookId, event } = delivery
  if (webhookId === null) return sendEmail(options, delivery)
  const webhook = await storage.webhooks.find({ id: webhookId, userId })
  if (webhook === undefined) return { ok: false, result: 'removed' }
  let secret: string
  try {
    secret = openKey(webhook.sealed, webhook, options.secrets)
  } catch {
    return { ok: false, result: 'secretLost' }
  }
  return options.sendWebhook({ url: webhook.url, body: event, secret })
}

const deliver = async (options: AlertsOptions, delivery: AlertDelivery): Promise<void> => {
  const { now, storage } = options
  const { id, attempts } = delivery
  const { ok, result } = await send(options, delivery)
  const waitMs = ok ? undefined : retryMs[attempts - 1]
  const state = ok ? 'delivered' : waitMs === undefined ? 'failed' : 'pending'
  const nextAttemptAt = waitMs === undefined ? null : now() + waitMs
  await storage.alerts.finish({ id, state, result, now: now(), nextAttemptAt })
  if (state === 'failed') {
    const by = delivery.webhookId === null ? 'email' : 'webhook'
    options.onEvent({ event: 'alertFailed', deliveryId: id, by, result })
  }
}

const run = async (options: AlertsOptions, stopped: () => boolean): Promise<void> => {
  const { storage, leader, now } = options
  if (!(await takeLease(storage, 'alert_state', { leader, now: now(), leaseMs }))) return
  await find(options, stopped)
  while (!stopped()) {
    const due = await storage.alerts.takeDue({ now: now(), retryAt: now() + attemptMs, limit: deliveriesAtOnce })
    await Promise.all(due.map((delivery) => deliver(options, delivery)))
    if (due.length < deliveriesAtOnce) break
  }
  const today = getUtcDay(now())
  const before = now() - retentionMs
  await storage.alerts.prune({ day: today.day - 1, before, limit: pruneAtOnce })
}
