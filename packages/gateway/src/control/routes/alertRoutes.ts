import type { AlertEvent } from '../../alerts/alertEvent.ts'
import { getAlertTitle } from '../../alerts/describeAlert.ts'
import { findWebhookUrlProblem } from '../../alerts/sendWebhook.ts'
import { createWebhookSecret, rotateWebhookSecret } from '../../alerts/webhookSecret.ts'
import { openKey, sealKey } from '../../lib/secrets/sealKey.ts'
import type { AlertDelivery } from '../../storage/alerts.ts'
import { createId } from '../../storage/createId.ts'
import type { Webhook } from '../../storage/webhooks.ts'
import { apiErrors } from '../apiErrors.ts'
import { changeWithAudit } from '../changeWithAudit.ts'
import { confirmBody } from '../contract/account.ts'
import {
  alertDeliveryView,
  alertEmailsView,
  alertRulesView,
  alertsView,
  createWebhookBody,
  newWebhookView,
  webhookTestView,
  webhookView,
} from '../contract/alerts.ts'
import type { AlertDeliveryView, AlertRulesView, AlertsView, WebhookView } from '../contract/controlApi.d.ts'
import { requireAccount, requireAccountId, requireViewer, route } from '../route.ts'
import type { Caller, ControlParts, Route } from '../route.ts'
import { testWebhook } from '../testWebhook.ts'
import { createView } from '../views/createView.ts'

const maxWebhooks = 5
const maxDeliveries = 50
const noRules: AlertRulesView = { errorPercent: null, latencyMs: null, minutes: 15, minCalls: 100 }

const toWebhookView: (webhook: Webhook) => WebhookView = createView(webhookView)
const toDelivery = createView(alertDeliveryView)

const toDeliveryView = ({ event, ...delivery }: AlertDelivery): AlertDeliveryView => {
  const parsed = JSON.parse(event) as AlertEvent
  return { ...toDelivery(delivery), type: parsed.type, title: getAlertTitle(parsed) }
}

const toView = async ({ storage }: ControlParts, caller: Caller): Promise<AlertsView> => {
  const userId = requireAccountId(caller)
  // A user has one setting for all accounts.
  const { id, role } = requireViewer(caller).user
  const emails = await storage.alerts.getEmails(id)
  return {
    emails: {
      own: emails?.alertEmails ?? false,
      allUsers: emails?.alertEmailsAll ?? false,
      aboutService: role === 'operator' && emails?.alertEmailsService === true,
    },
    rules: (await storage.alerts.getRules(userId)) ?? noRules,
    webhooks: (await storage.webhooks.list(userId)).map(toWebhookView),
    maxWebhooks,
    deliveries: (await storage.alerts.listDeliveries({ userId, limit: maxDeliveries })).map(toDeliveryView),
  }
}

/** Opens the secret of a webhook; `undefined` if it was sealed with a server secret that is lost. */
const openIfPossible = (webhook: Webhook, { secrets }: Pick<ControlParts, 'secrets'>): string | undefined => {
  try {
    return openKey(webhook.sealed, webhook, secrets)
  } catch {
    return undefined
  }
}

/** Whether the caller asks for alerts that only operators get. */
const isForbidden = (caller: Caller, ...forOperators: readonly boolean[]): boolean =>
  forOperators.includes(true) && requireViewer(caller).user.role !== 'operator'

/** The routes of alerts and their webhooks. */
export const alertRoutes: readonly Route[] = [
  route(
    'GET /api/alerts',
    {
      summary: 'Gets when alerts are sent and to whom, and the last deliveries.',
      access: 'manage',
      response: alertsView,
    },
    async ({ caller }, parts) => ({ response: await toView(parts, caller) }),
  ),

  route(
    'PUT /api/alerts/emails',
    { summary: 'Sets which alerts are sent by email.', access: 'manage', body: alertEmailsView, response: alertsView },
    async ({ body, caller }, parts) => {
      const { id, role } = requireViewer(caller).user
      if (isForbidden(caller, body.allUsers, body.aboutService)) return { error: apiErrors.operatorRequired() }
      await changeWithAudit(
        parts,
        caller,
        ({ alerts }) =>
          alerts.setEmails(id, {
            alertEmails: body.own,
            alertEmailsAll: body.allUsers,
            // It is on for those who become operators.
            alertEmailsService: role === 'operator' ? body.aboutService : undefined,
          }),
        () => ({ action: 'alerts.edit', subject: id, detail: { ...body } }),
      )
      return { response: await toView(parts, caller) }
    },
  ),

  route(
    'PUT /api/alerts/rules',
    {
      summary: 'Sets when failed or slow calls cause an alert.',
      description: 'The rules apply to each app of the account, and to its API keys together.',
      access: 'manage',
      body: alertRulesView,
      response: alertsView,
    },
    async ({ body, caller }, parts) => {
      const id = requireAccountId(caller)
      await changeWithAudit(
        parts,
        caller,
        ({ alerts }) => alerts.setRules(id, body, parts.now()),
        () => ({ action: 'alerts.rules', subject: id, detail: { ...body } }),
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
      const { url, allUsers = false, aboutService = false } = body
      if (isForbidden(caller, allUsers, aboutService)) return { error: apiErrors.operatorRequired() }
      if ((allUsers || aboutService) && requireAccount(caller).kind === 'team') {
        const field = allUsers ? 'allUsers' : 'aboutService'
        return { error: apiErrors.invalid([{ field, fix: 'must be false for the webhook of a team' }]) }
      }
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
            aboutService,
            sealed: sealKey(secret, owner, secrets[0]),
            createdAt: now(),
            max: maxWebhooks,
          }),
        // The path and the query of the URL can hold a secret.
        ({ id }) => ({
          action: 'webhook.create',
          subject: id,
          detail: { host: new URL(url).host, allUsers, aboutService },
        }),
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
      description:
        'Requests are also signed with the old one for 24 hours, so that no alert is rejected while you replace it.',
      access: 'manage',
      confirms: true,
      body: confirmBody,
      response: newWebhookView,
    },
    async ({ params, caller }, parts) => {
      const { secrets, now } = parts
      const owner = { id: params.webhookId, userId: requireAccountId(caller) }
      const rotated = await changeWithAudit(
        parts,
        caller,
        async (within) => {
          const webhook = await within.webhooks.find(owner)
          if (webhook === undefined) return 'notFound'
          const { secret, text } = rotateWebhookSecret(openIfPossible(webhook, parts), now())
          await within.webhooks.setSecret({ ...owner, sealed: sealKey(text, owner, secrets[0]) })
          return { webhook, secret }
        },
        () => ({ action: 'webhook.rotate', subject: owner.id }),
      )
      if (rotated === 'notFound') return { error: apiErrors.notFound() }
      return { response: { webhook: toWebhookView(rotated.webhook), secret: rotated.secret } }
    },
  ),

  route(
    'POST /api/alerts/webhooks/{webhookId}/test',
    { summary: 'Sends a test event to a webhook.', access: 'manage', response: webhookTestView },
    async ({ params, caller }, parts) => {
      const { id, name } = requireAccount(caller)
      const owner = { id: params.webhookId, userId: id }
      const webhook = await changeWithAudit(
        parts,
        caller,
        async (within) => (await within.webhooks.find(owner)) ?? 'notFound',
        () => ({ action: 'webhook.test', subject: owner.id }),
      )
      if (webhook === 'notFound') return { error: apiErrors.notFound() }
      const isOperator = requireViewer(caller).user.role === 'operator'
      return { response: await testWebhook(parts, webhook, { user: { id, email: name }, isOperator }) }
    },
  ),
]
