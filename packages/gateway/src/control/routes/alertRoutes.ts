import { getAlertTitle } from '../../alerts/describeAlert.ts'
import type { AlertEvent } from '../../alerts/alertEvent.ts'
import type { AlertDelivery } from '../../storage/alerts.ts'
import { apiErrors } from '../apiErrors.ts'
import { changeWithAudit } from '../changeWithAudit.ts'
import { alertDeliveryView, alertEmailsView, alertRulesView, alertsView } from '../contract/alerts.ts'
import type { AlertDeliveryView, AlertRulesView, AlertsView } from '../contract/controlApi.d.ts'
import { requireAccountId, requireViewer, route } from '../route.ts'
import type { Caller, ControlParts, Route } from '../route.ts'
import { createView } from '../views/createView.ts'
import { maxWebhooks, toWebhookView } from './webhookRoutes.ts'

const maxDeliveries = 50
const noRules: AlertRulesView = { errorPercent: null, latencyMs: null, minutes: 15, minCalls: 100 }

const toDelivery = createView(alertDeliveryView)

const toDeliveryView = ({ event, ...delivery }: AlertDelivery): AlertDeliveryView => {
  const parsed = JSON.parse(event) as AlertEvent
  return { ...toDelivery(delivery), type: parsed.type, title: getAlertTitle(parsed) }
}

const toView = async ({ storage }: ControlParts, caller: Caller): Promise<AlertsView> => {
  const userId = requireAccountId(caller)
  // A user has one setting for all accounts.
  const { id } = requireViewer(caller).user
  const emails = await storage.alerts.getEmails(id)
  return {
    emails: {
      own: emails?.alertEmails ?? false,
      allUsers: emails?.alertEmailsAll ?? false,
      service: emails?.alertEmailsService ?? false,
    },
    rules: (await storage.alerts.getRules(userId)) ?? noRules,
    webhooks: (await storage.webhooks.list(userId)).map(toWebhookView),
    maxWebhooks,
    deliveries: (await storage.alerts.listDeliveries({ userId, limit: maxDeliveries })).map(toDeliveryView),
  }
}

/** The routes of alerts. */
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
      if (body.allUsers && role !== 'operator') return { error: apiErrors.operatorRequired() }
      await changeWithAudit(
        parts,
        caller,
        ({ alerts }) =>
          alerts.setEmails(id, {
            alertEmails: body.own,
            alertEmailsAll: body.allUsers,
            alertEmailsService: body.service,
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
        ({ alerts }) => alerts.setRules(id, body),
        () => ({ action: 'alerts.rules', subject: id, detail: { ...body } }),
      )
      return { response: await toView(parts, caller) }
    },
  ),
]
