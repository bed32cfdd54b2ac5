import { hourMs, minuteMs } from '../lib/time.ts'
import { managerRoles } from '../storage/alerts.ts'
import type { AlertDelivery } from '../storage/alerts.ts'
import type { AlertEvent } from './alertEvent.ts'
import type { AlertsOptions } from './alertsOptions.ts'
import { sendByEmail, sendToWebhook } from './sendAlert.ts'
import type { WebhookResult } from './sendWebhook.ts'

/** Waits before the retries of a delivery, in milliseconds. */
const retryMs: readonly number[] = [minuteMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 6 * hourMs]
/** How long an attempt may take before another instance may repeat it, in milliseconds. */
const attemptMs = 5 * minuteMs
const deliveriesAtOnce = 20

/** Whether an alert is about the account of its recipient. */
const isAboutOwn = async (
  { storage }: Pick<AlertsOptions, 'storage'>,
  { data }: AlertEvent,
  userId: string,
): Promise<boolean> => {
  if (!('user' in data)) return false
  const accountId = data.user.id
  if (accountId === userId) return true
  const member = await storage.members.find({ accountId, userId })
  return member !== undefined && managerRoles.includes(member.role)
}

const send = async (options: AlertsOptions, delivery: AlertDelivery): Promise<WebhookResult> => {
  const { storage } = options
  const { userId, webhookId } = delivery
  const event = JSON.parse(delivery.event) as AlertEvent
  const user = await storage.users.find(userId)
  const isOwner = await isAboutOwn(options, event, userId)
  // Since it was queued, its recipient may have been disabled, or lost the role.
  if (user?.state !== 'active' || (!isOwner && user.role !== 'operator')) return { ok: false, result: 'removed' }
  if (webhookId !== null) {
    const webhook = await storage.webhooks.find({ id: webhookId, userId })
    return webhook === undefined ? { ok: false, result: 'removed' } : sendToWebhook(options, webhook, event)
  }
  return sendByEmail(options, { email: user.email, isOwner }, event)
}

const deliver = async (options: AlertsOptions, delivery: AlertDelivery): Promise<void> => {
  const { now, storage } = options
  const { id, attempts } = delivery
  const { ok, result } = await send(options, delivery)
  const waitMs = ok || result === 'removed' ? undefined : retryMs[attempts - 1]
  const state = ok ? 'delivered' : waitMs === undefined ? 'failed' : 'pending'
  const nextAttemptAt = waitMs === undefined ? null : now() + waitMs
  await storage.alerts.finish({ id, state, result, now: now(), nextAttemptAt })
  if (state === 'failed') {
    const by = delivery.webhookId === null ? 'email' : 'webhook'
    options.onEvent({ event: 'alertFailed', deliveryId: id, by, result })
  }
}

/** Sends the alerts that are due. */
export const deliverAlerts = async (options: AlertsOptions, stopped: () => boolean): Promise<void> => {
  const { storage, now } = options
  while (!stopped()) {
    const due = await storage.alerts.takeDue({ now: now(), retryAt: now() + attemptMs, limit: deliveriesAtOnce })
    await Promise.all(due.map((delivery) => deliver(options, delivery)))
    if (due.length < deliveriesAtOnce) break
  }
}
