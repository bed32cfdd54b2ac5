import { createAlertEvent } from '../../alerts/alertEvent.ts'
import type { AlertEvent } from '../../alerts/alertEvent.ts'
import { findWebhookUrlProblem } from '../../alerts/sendWebhook.ts'
import { createWebhookSecret } from '../../alerts/webhookSecret.ts'
import { openKey, sealKey } from '../../lib/secrets/sealKey.ts'
import { getUtcDay } from '../../lib/utcDay.ts'
import type { AlertDelivery } from '../../storage/alerts.ts'
import { createId } from '../../storage/createId.ts'
import type { Webhook } from '../../storage/webhooks.ts'
import { apiErrors } from '../apiErrors.ts'
import { changeWithAudit } from '../changeWithAudit.ts'
import { createView } from '../views/createView.ts'
import { confirmBody } from '../contract/account.ts'
import {
  alertDeliveryView,
  alertEmailsView,
  alertsView,
  createWebhookBody,
  newWebhookView,
  webhookTestView,
  webhookView,
} from '../contract/alerts.ts'
import type { AlertDeliveryView, AlertsView, WebhookView } from '../contract/controlApi.d.ts'
import { requireAccount, requireAccountId, requireViewer, route } from '../route.ts'
import type { Caller, ControlParts, Route } from '../route.ts'

const maxWebhooks = 5
const maxDeliveries = 50
/** The page waits for a test event, so it has less time than others, in milliseconds. */
const testTimeoutMs = 5_000

const toWebhookView: (webhook: Webhook) => WebhookView = createView(webhookView)
const toDelivery = createView(alertDeliveryView)

const toDeliveryView = ({ event, ...delivery }: AlertDelivery): AlertDeliveryView => {
  const { level, account, user } = (JSON.parse(event) as AlertEvent).data
  return {
    ...toDelivery(delivery),
    level,
    app: account.type === 'app' ? { id: account.id, name: account.name } : null,
    userId: user.id,
  }
}

const toView = async ({ storage }: ControlParts, caller: Caller): Promise<AlertsView> => {
  const userId = requireAccountId(caller)
  // A user has one setting for all accounts.
  const { id } = requireViewer(caller).user
  const { alertEmails = false, alertEmailsAll = false } = (await storage.alerts.getEmails(id)) ?? {}
  return {
    emails: { own: alertEmails, allUsers: alertEmailsAll },
    webhooks: (await storage.webhooks.list(userId)).map(toWebhookView),
    maxWebhooks,
    deliveries: (await storage.alerts.listDeliveries({ userId, limit: maxDeliveries })).map(toDeliveryView),
  }
}

/** Whether the caller asks for alerts that only operators get. */
const isForbidden = (caller: Caller, allUsers: boolean | undefined): boolean =>
  allUsers === true && requireViewer(caller).user.role !== 'operator'

/** The routes of alerts and their webhooks. */
export const alertRoutes: readonly Route[] = [
  route(
    'GET /api/alerts',
    {
      summary: 'Gets who is alerted when a daily quota is nearly used up, and the last deliveries.',
      access: 'manage',
      response: alertsView,
    },
    async ({ caller }, parts) => ({ response: await toView(parts, caller) }),
  ),

  route(
    'PUT /api/alerts/emails',
    { summary: 'Sets which alerts are sent by email.', access: 'manage', body: alertEmailsView, response: alertsView },
    async ({ body, caller }, parts) => {
      if (isForbidden(caller, body.allUsers)) return { error: apiErrors.operatorRequired() }
      const { id } = requireViewer(caller).user
      await changeWithAudit(
        parts,
        caller,
        ({ alerts }) => alerts.setEmails(id, { alertEmails: body.own, alertEmailsAll: body.allUsers }),
        () => ({ action: 'alerts.edit', subject: id, detail: { ...body } }),
      )
      return { response: await toView(parts, caller) }
    },
  ),

  route(
    'POST /api/alerts/webhooks',
    {
      summary: 'Adds a webhook for alerts. Only this response contains its secret.',
      access: 'manage',
      confirms: true,
      status: 201,
      body: createWebhookBody,
      response: newWebhookView,
    },
    async ({ body, caller }, parts) => {
      const { webhooks, secrets, now } = parts
      const { url, allUsers = false } = body
      if (isForbidden(caller, allUsers)) return { error: apiErrors.operatorRequired() }
      if (allUsers && requireAccount(caller).kind === 'team')
        return { error: apiErrors.invalid([{ field: 'allUsers', fix: 'must be false for the webhook of a team' }]) }
      const problem = findWebhookUrlProblem(url, webhooks.options())
      if (problem !== undefined) return { error: apiErrors.invalid([{ field: 'url', fix: problem }]) }
      const owner = { id: createId('whk'), userId: requireAccountId(caller) }
      const secret = createWebhookSecret()
      const created = await changeWithAudit(
        parts,
        caller,
        (within) =>
          within.webhooks.create({
            ...owner,
            url,
            allUsers,
            sealed: sealKey(secret, owner, secrets[0]),
            createdAt: now(),
            max: maxWebhooks,
          }),
        // The path and the query of the URL can hold a secret.
        ({ id }) => ({ action: 'webhook.create', subject: id, detail: { host: new URL(url).host, allUsers } }),
      )
      if (created === 'webhooksFull')
        return {
          error: apiErrors.tooMany(`This account has ${maxWebhooks} webhooks, the maximum. Remove one first.`),
        }
      if (created === 'notFound') return { error: apiErrors.notFound() }
      return { response: { webhook: toWebhookView(created), secret } }
    },
  ),

  route(
    'DELETE /api/alerts/webhooks/{webhookId}',
    { summary: 'Removes a webhook and its deliveries.', access: 'manage' },
    async ({ params, caller }, parts) => {
      const webhook = { id: params.webhookId, userId: requireAccountId(caller) }
      const removed = await changeWithAudit(
        parts,
        caller,
        async (within) => ((await within.webhooks.remove(webhook)) ? true : 'notFound'),
        () => ({ action: 'webhook.remove', subject: webhook.id }),
      )
      return removed === 'notFound' ? { error: apiErrors.notFound() } : { response: undefined }
    },
  ),

  route(
    'POST /api/alerts/webhooks/{webhookId}/rotate',
    {
      summary: 'Replaces the secret of a webhook.',
      description: 'The old one is no longer used.',
      access: 'manage',
      confirms: true,
      body: confirmBody,
      response: newWebhookView,
    },
    async ({ params, caller }, parts) => {
      const { secrets } = parts
      const owner = { id: params.webhookId, userId: requireAccountId(caller) }
      const secret = createWebhookSecret()
      const rotated = await changeWithAudit(
        parts,
        caller,
        async (within) => {
          await within.webhooks.setSecret({ ...owner, sealed: sealKey(secret, owner, secrets[0]) })
          return (await within.webhooks.find(owner)) ?? 'notFound'
        },
        () => ({ action: 'webhook.rotate', subject: owner.id }),
      )
      if (rotated === 'notFound') return { error: apiErrors.notFound() }
      return { response: { webhook: toWebhookView(rotated), secret } }
    },
  ),

  route(
    'POST /api/alerts/webhooks/{webhookId}/test',
    { summary: 'Sends a test event to a webhook.', access: 'manage', response: webhookTestView },
    async ({ params, caller }, parts) => {
      const { now, secrets, webhooks } = parts
      const { id, name } = requireAccount(caller)
      const owner = { id: params.webhookId, userId: id }
      const webhook = await changeWithAudit(
        parts,
        caller,
        async (within) => (await within.webhooks.find(owner)) ?? 'notFound',
        () => ({ action: 'webhook.test', subject: owner.id }),
      )
      if (webhook === 'notFound') return { error: apiErrors.notFound() }
      const event = createAlertEvent({
        id: createId('evt'),
        type: 'webhook.test',
        level: 80,
        used: 80,
        limit: 100,
        account: { type: 'apiKeys' },
        user: { id, email: name },
        day: getUtcDay(now()),
        now: now(),
      })
      const secret = openKey(webhook.sealed, owner, secrets)
      const request = { url: webhook.url, body: JSON.stringify(event), secret }
      return { response: await webhooks.send(request, { ...webhooks.options(), timeoutMs: testTimeoutMs }) }
    },
  ),
]
