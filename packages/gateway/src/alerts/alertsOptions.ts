import type { Email } from '../email/mailer.ts'
import type { ServerSecret } from '../lib/secrets/serverSecret.ts'
import type { ChargedQuota } from '../storage/alerts.ts'
import type { Storage } from '../storage/openStorage.ts'
import type { UsageLimits } from '../usage/limits/usageLimits.ts'
import type { ReadRecentCalls } from '../usage/metering/createReadRecentCalls.ts'
import type { Problem } from './findProblems.ts'
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
  readonly storage: Pick<Storage, 'alerts' | 'webhooks' | 'users' | 'apps' | 'members' | 'transaction' | 'db' | 'write'>
  readonly usageLimits: Pick<UsageLimits, 'usage'>
  /** The daily limit of a quota in units; `null`: no limit. */
  readonly getPerDay: (quota: ChargedQuota) => number | null
  readonly readRecentCalls: ReadRecentCalls
  /** The problems of the service, as this instance sees them. */
  readonly readProblems: () => Promise<readonly Problem[]>
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
  /** The name of its host. */
  readonly instance: string
  /** Milliseconds since 1970. */
  readonly now: () => number
}
