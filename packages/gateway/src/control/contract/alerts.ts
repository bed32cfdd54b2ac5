import { z } from 'zod'
import { secretText, timeText } from './texts.ts'

/** The alerts of the account: who gets them, and the last deliveries. */
export interface AlertsView {
  readonly emails: AlertEmailsView
  /** Oldest first. */
  readonly webhooks: readonly WebhookView[]
  /** Most webhooks that an account can have. */
  readonly maxWebhooks: number
  /** The last 50, newest first. */
  readonly deliveries: readonly AlertDeliveryView[]
}

/** Which alerts are sent by email. Emails are only sent to a verified address. */
export interface AlertEmailsView {
  /** About the own apps and API keys. */
  readonly own: boolean
  /** About those of all users. Only operators get them. */
  readonly allUsers: boolean
}

/** A URL that gets alerts. */
export interface WebhookView {
  readonly id: string
  readonly url: string
  /** Whether it gets alerts about all users. Only those of operators do. */
  readonly allUsers: boolean
  readonly createdAt: string
}

/** A webhook with its secret, which is shown only once. */
export interface NewWebhookView {
  readonly webhook: WebhookView
  /** `whsec_…`: verifies the header `Keyrail-Signature`. A secret. */
  readonly secret: string
}

/** An alert that was sent, or is retried. */
export interface AlertDeliveryView {
  readonly id: string
  /** `null`: by email. */
  readonly webhookId: string | null
  /** Percent of the daily quota. */
  readonly level: number
  /** The app; `null` for the API keys of the user. */
  readonly app: { readonly id: string; readonly name: string } | null
  /** The user with the quota. */
  readonly userId: string
  readonly state: 'pending' | 'delivered' | 'failed'
  readonly attempts: number
  /** How the last attempt ended, such as `HTTP 500` or `timeout`; `null` before the first. */
  readonly result: string | null
  readonly createdAt: string
  readonly attemptedAt: string | null
}

/** Adds a webhook. */
export interface CreateWebhookBody {
  /** An https URL. */
  readonly url: string
  /** Whether it gets alerts about all users. Only operators can set it. @default false */
  readonly allUsers?: boolean
  /** Required if the session is older than 15 minutes. */
  readonly password?: string
}

/** How a test event was received. */
export interface WebhookTestView {
  /** Whether the response had a status from 200 to 299. */
  readonly ok: boolean
  /** Such as `HTTP 200`, `timeout` or `ENOTFOUND`. */
  readonly result: string
}

const flag = z.boolean({ error: 'must be true or false' })

/** The schema of `AlertEmailsView`. */
export const alertEmailsView: z.ZodType<AlertEmailsView, AlertEmailsView> = z.strictObject({
  own: flag,
  allUsers: flag,
})

const webhookView = z
  .strictObject({ id: z.string(), url: z.string(), allUsers: z.boolean(), createdAt: timeText })
  .meta({ id: 'Webhook' })

const deliveryView = z
  .strictObject({
    id: z.string(),
    webhookId: z.string().nullable(),
    level: z.int(),
    app: z.strictObject({ id: z.string(), name: z.string() }).nullable(),
    userId: z.string(),
    state: z.enum(['pending', 'delivered', 'failed']),
    attempts: z.int(),
    result: z.string().nullable(),
    createdAt: timeText,
    attemptedAt: timeText.nullable(),
  })
  .meta({ id: 'AlertDelivery' })

/** The schema of `AlertsView`. */
export const alertsView: z.ZodType<AlertsView> = z
  .strictObject({
    emails: z.strictObject({ own: z.boolean(), allUsers: z.boolean() }),
    webhooks: z.array(webhookView),
    maxWebhooks: z.int(),
    deliveries: z.array(deliveryView),
  })
  .meta({ id: 'Alerts' })

/** The schema of `NewWebhookView`. */
export const newWebhookView: z.ZodType<NewWebhookView> = z.strictObject({ webhook: webhookView, secret: z.string() })

/** The schema of `CreateWebhookBody`. */
export const createWebhookBody: z.ZodType<CreateWebhookBody, CreateWebhookBody> = z.strictObject({
  url: z.string().trim(),
  allUsers: flag.exactOptional(),
  password: secretText.exactOptional(),
})

/** The schema of `WebhookTestView`. */
export const webhookTestView: z.ZodType<WebhookTestView> = z
  .strictObject({ ok: z.boolean(), result: z.string() })
  .meta({ id: 'WebhookTest' })
