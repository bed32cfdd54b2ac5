import { createAlertEvent } from '../../alerts/alertEvent.ts'
import type { AlertEvent } from '../../alerts/alertEvent.ts'
import { findWebhookUrlProblem } from '../../alerts/sendWebhook.ts'
import { createWebhookSecret } from '../../alerts/webhookSecret.ts'
import { openKey, sealKey } from '../../lib/secrets/sealKey.ts'
import { getUtcDay } from '../../lib/utcDay.ts'
import type { AlertDelivery } from '../../storage/alerts.ts'
import { createId } from '../../storage/createId.ts'
import type { Webhook } from '../../storage/webhooks.ts'
import type { AlertDeliveryView, AlertsView, WebhookView } from '../contract/alerts.ts'
import { apiErrors } from '../apiErrors.ts'
import { changeWithAudit } from '../changeWithAudit.ts'
import { requireViewer } from '../handler.ts'
import type { Caller, ControlParts, Handlers } from '../handler.ts'
import { isoTime, isoTimeOrNull } from '../views/times.ts'

const maxWebhooks = 5
const maxDeliveries = 50
/** The page waits for a test event, so it has less time than others, in milliseconds. */
const testTimeoutMs = 5_000

const toWebhookView = ({ id, url, isForAll, createdAt }: Webhook): WebhookView => ({
  id,
  url,
  allUsers: isForAll,
  createdAt: isoTime(createdAt),
})

const toDeliveryView = ({ event, ...delivery }: AlertDelivery): AlertDeliveryView => {
  const { level, account, user } = (JSON.parse(event) as AlertEvent).data
  const { id, webhookId, state, attempts, result, createdAt, attemptedAt } = delivery
  return {
    id,
    webhookId,
    level,
    app: account.type === 'app' ? { id: account.id, name: account.name } : null,
    userId: user.id,
    state,
    attempts,
    result,
    createdAt: isoTime(createdAt),
    attemptedAt: isoTimeOrNull(attemptedAt),
  }
}

/** The routes of alerts and their webhooks. */
export const alertHandlers = (
  parts: ControlParts,
): Handlers<
  | 'GET /api/alerts'
  | 'PUT /api/alerts/emails'
  | 'POST /api/alerts/webhooks'
  | 'DELETE /api/alerts/webhooks/{webhookId}'
  | 'POST /api/alerts/webhooks/{webhookId}/rotate'
  | 'POST /api/alerts/webhooks/{webhookId}/test'
> => {
  const { storage, secrets, webhooks, now } = parts

  const toView = async (caller: Caller): Promise<AlertsView> => {
    const userId = requireViewer(caller).user.id
    const { own = false, all = false } = (await storage.alerts.getEmails(userId)) ?? {}
    return {
      emails: { own, allUsers: all },
      webhooks: (await storage.webhooks.list(userId)).map(toWebhookView),
      maxWebhooks,
      deliveries: (await storage.alerts.listDeliveries({ userId, limit: maxDeliveries })).map(toDeliveryView),
    }
  }
  /** Whether the caller asks for alerts that only operators get. */
  const isForbidden = (caller: Caller, allUsers: boolean | undefined): boolean =>
    allUsers === true && requireViewer(caller).user.role !== 'operator'

  return {
    'GET /api/alerts': async ({ caller }) => ({ response: await toView(caller) }),

    'PUT /api/alerts/emails': async ({ body, caller }) => {
      if (isForbidden(caller, body.allUsers)) return { error: apiErrors.operatorRequired() }
      const { id } = requireViewer(caller).user
      await changeWithAudit(
        parts,
        caller,
        ({ alerts }) => alerts.setEmails(id, { own: body.own, all: body.allUsers }),
        () => ({ action: 'alerts.edit', subject: id, detail: { ...body } }),
      )
      return { response: await toView(caller) }
    },

    'POST /api/alerts/webhooks': async ({ body, caller }) => {
      const { url, allUsers = false } = body
      if (isForbidden(caller, allUsers)) return { error: apiErrors.operatorRequired() }
      const problem = findWebhookUrlProblem(url, webhooks.options())
      if (problem !== undefined) return { error: apiErrors.invalid([{ field: 'url', fix: problem }]) }
      const owner = { id: createId('whk'), userId: requireViewer(caller).user.id }
      const secret = createWebhookSecret()
      const created = await changeWithAudit(
        parts,
        caller,
        (within) =>
          within.webhooks.create({
            ...owner,
            url,
            isForAll: allUsers,
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

    'DELETE /api/alerts/webhooks/{webhookId}': async ({ params, caller }) => {
      const webhook = { id: params.webhookId, userId: requireViewer(caller).user.id }
      const removed = await changeWithAudit(
        parts,
        caller,
        async (within) => ((await within.webhooks.remove(webhook)) ? true : 'notFound'),
        () => ({ action: 'webhook.remove', subject: webhook.id }),
      )
      return removed === 'notFound' ? { error: apiErrors.notFound() } : { response: undefined }
    },

    'POST /api/alerts/webhooks/{webhookId}/rotate': async ({ params, caller }) => {
      const owner = { id: params.webhookId, userId: requireViewer(caller).user.id }
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

    'POST /api/alerts/webhooks/{webhookId}/test': async ({ params, caller }) => {
      const { user } = requireViewer(caller)
      const owner = { id: params.webhookId, userId: user.id }
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
        user: { id: user.id, email: user.email },
        day: getUtcDay(now()),
        now: now(),
      })
      const secret = openKey(webhook.sealed, owner, secrets)
      const request = { url: webhook.url, body: JSON.stringify(event), secret }
      return { response: await webhooks.send(request, { ...webhooks.options(), timeoutMs: testTimeoutMs }) }
    },
  }
}
