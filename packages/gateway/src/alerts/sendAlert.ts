import { openKey } from '../lib/secrets/sealKey.ts'
import type { Webhook } from '../storage/webhooks.ts'
import { toWebhookBody } from './alertEvent.ts'
import type { AlertEvent } from './alertEvent.ts'
import type { AlertsOptions } from './alertsOptions.ts'
import { toAlertEmail } from './describeAlert.ts'
import type { WebhookResult } from './sendWebhook.ts'
import { listWebhookSecrets } from './webhookSecret.ts'

/** Sends an alert to a webhook. Never rejects. */
export const sendToWebhook = async (
  options: Pick<AlertsOptions, 'secrets' | 'sendWebhook' | 'now'>,
  webhook: Pick<Webhook, 'id' | 'userId' | 'url' | 'sealed'>,
  event: AlertEvent,
): Promise<WebhookResult> => {
  let secrets: readonly string[]
  try {
    secrets = listWebhookSecrets(openKey(webhook.sealed, webhook, options.secrets), options.now())
  } catch {
    return { ok: false, result: 'secretLost' }
  }
  return options.sendWebhook({ url: webhook.url, id: event.id, body: toWebhookBody(event), secrets })
}

/** Sends an alert by email. Never rejects. */
export const sendByEmail = async (
  { sendEmail, describeEmailError, siteUrl }: Pick<AlertsOptions, 'sendEmail' | 'describeEmailError' | 'siteUrl'>,
  to: { readonly email: string; readonly isOwner: boolean },
  event: AlertEvent,
): Promise<WebhookResult> => {
  const send = sendEmail()
  if (send === undefined) return { ok: false, result: 'emailDisabled' }
  try {
    await send(toAlertEmail(event, { to: to.email, isOwner: to.isOwner, siteUrl: siteUrl() }))
    return { ok: true, result: 'sent' }
  } catch (error) {
    return { ok: false, result: describeEmailError(error) }
  }
}
