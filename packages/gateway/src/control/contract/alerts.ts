import { z } from 'zod'
import { flag, secretText, timeText } from './texts.ts'

export const alertEmailsView = z
  .strictObject({
    own: flag.describe('About the own apps and API keys.'),
    allUsers: flag.describe('About those of all users. Only operators get them.'),
  })
  .describe('Which alerts are sent by email. Emails are only sent to a verified address.')

export const webhookView = z
  .strictObject({
    id: z.string(),
    url: z.string(),
    allUsers: z.boolean().describe('Whether it gets alerts about all users. Only those of operators do.'),
    createdAt: timeText,
  })
  .meta({ id: 'Webhook', description: 'A URL that gets alerts.' })

export const alertDeliveryView = z
  .strictObject({
    id: z.string(),
    webhookId: z.string().nullable().describe('`null`: by email.'),
    level: z.int().describe('Percent of the daily quota.'),
    app: z
      .strictObject({ id: z.string(), name: z.string() })
      .nullable()
      .describe('The app; `null` for the API keys of the user.'),
    userId: z.string().describe('The user with the quota.'),
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
    webhooks: z.array(webhookView).describe('Oldest first.'),
    maxWebhooks: z.int().describe('Most webhooks that an account can have.'),
    deliveries: z.array(alertDeliveryView).describe('The last 50, newest first.'),
  })
  .meta({ id: 'Alerts', description: 'The alerts of the account: who gets them, and the last deliveries.' })

export const newWebhookView = z
  .strictObject({
    webhook: webhookView,
    secret: z.string().describe('`whsec_…`: verifies the header `Keyrail-Signature`. A secret.'),
  })
  .describe('A webhook with its secret, which is shown only once.')

export const createWebhookBody = z
  .strictObject({
    url: z.string().trim().describe('An https URL.'),
    allUsers: flag
      .exactOptional()
      .describe('Whether it gets alerts about all users. Only operators can set it. @default false'),
    password: secretText.exactOptional().describe('Required if the session is older than 15 minutes.'),
  })
  .describe('Adds a webhook.')

export const webhookTestView = z
  .strictObject({
    ok: z.boolean().describe('Whether the response had a status from 200 to 299.'),
    result: z.string().describe('Such as `HTTP 200`, `timeout` or `ENOTFOUND`.'),
  })
  .meta({ id: 'WebhookTest', description: 'How a test event was received.' })
