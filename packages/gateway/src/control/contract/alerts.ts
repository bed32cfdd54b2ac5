import { z } from 'zod'
import { flag, secretText, timeText, wholeNumber } from './texts.ts'

export const alertEmailsView = z
  .strictObject({
    own: flag.describe('About the own apps and API keys.'),
    allUsers: flag.describe('About those of all users. Only operators get them.'),
    aboutService: flag.describe('About problems of the service. Only operators get them.'),
  })
  .describe('Which alerts are sent by email. Emails are only sent to a verified address.')

export const alertRulesView = z
  .strictObject({
    errorPercent: wholeNumber(1, 100)
      .nullable()
      .describe('The share of failed or rejected calls that causes an alert, in percent; `null`: no such alert.'),
    latencyMs: wholeNumber(1, 600_000)
      .nullable()
      .describe(
        'The latency that causes an alert once 5 % of the calls to nodes take longer, in milliseconds; `null`: no such alert.',
      ),
    minutes: wholeNumber(5, 60).describe('The rules look at the calls of so many last minutes: 5 to 60.'),
    minCalls: wholeNumber(10, 1_000_000).describe('Fewer calls in these minutes cause no alert: at least 10.'),
  })
  .meta({
    id: 'AlertRules',
    description: 'When an app of the account, or its API keys together, cause alerts besides those about quotas.',
  })

export const webhookView = z
  .strictObject({
    id: z.string(),
    url: z.string(),
    allUsers: z.boolean().describe('Whether it gets alerts about all users. Only those of operators do.'),
    aboutService: z
      .boolean()
      .describe('Whether it gets alerts about problems of the service. Only those of operators do.'),
    createdAt: timeText,
  })
  .meta({ id: 'Webhook', description: 'A URL that gets alerts.' })

export const alertDeliveryView = z
  .strictObject({
    id: z.string(),
    webhookId: z.string().nullable().describe('`null`: by email.'),
    type: z.string().describe('The type of the event, such as `quota.threshold`.'),
    title: z.string().describe('What the alert is about, as in the subject of an email.'),
    state: z.enum(['pending', 'delivered', 'failed']),
    attempts: z.int(),
    result: z
      .string()
      .nullable()
      .describe('How the last attempt ended, such as `HTTP 500` or `timeout`; `null` before the first.'),
    createdAt: timeText,
    attemptedAt: timeText.nullable(),
  })
  .meta({ id: 'AlertDelivery', description: 'An alert that was sent, or is retried.' })

export const alertsView = z
  .strictObject({
    emails: alertEmailsView,
    rules: alertRulesView,
    webhooks: z.array(webhookView).describe('Oldest first.'),
    maxWebhooks: z.int().describe('Most webhooks that an account can have.'),
    deliveries: z.array(alertDeliveryView).describe('The last 50, newest first.'),
  })
  .meta({ id: 'Alerts', description: 'The alerts of the account: who gets them, and the last deliveries.' })

export const newWebhookView = z
  .strictObject({
    webhook: webhookView,
    secret: z.string().describe('`whsec_…`: verifies the header `webhook-signature`. A secret.'),
  })
  .describe('A webhook with its secret, which is shown only once.')

export const createWebhookBody = z
  .strictObject({
    url: z.string().trim().describe('An https URL.'),
    allUsers: flag
      .exactOptional()
      .describe('Whether it gets alerts about all users. Only operators can set it. @default false'),
    aboutService: flag
      .exactOptional()
      .describe('Whether it gets alerts about problems of the service. Only operators can set it. @default false'),
    password: secretText.exactOptional().describe('Required if the session is older than 15 minutes.'),
  })
  .describe('Adds a webhook.')

export const webhookTestView = z
  .strictObject({
    ok: z.boolean().describe('Whether the response had a status from 200 to 299.'),
    result: z.string().describe('Such as `HTTP 200`, `timeout`, `ENOTFOUND` or `privateAddress`.'),
    fix: z
      .string()
      .nullable()
      .describe('Why the service does not send to this address, and how to allow it; `null` if it did send.'),
  })
  .meta({ id: 'WebhookTest', description: 'How a test event was received.' })
