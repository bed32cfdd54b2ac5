import { toWebhookBody } from '../alerts/alertEvent.ts'
import type { AlertUser, TestEvent } from '../alerts/alertEvent.ts'
import { findWebhookUrlProblem } from '../alerts/sendWebhook.ts'
import type { WebhookResult } from '../alerts/sendWebhook.ts'
import { listWebhookSecrets } from '../alerts/webhookSecret.ts'
import { openKey } from '../lib/secrets/sealKey.ts'
import { createId } from '../storage/createId.ts'
import type { Webhook } from '../storage/webhooks.ts'
import type { WebhookTestView } from './contract/controlApi.d.ts'
import type { ControlParts } from './route.ts'
import { isoTime } from './views/times.ts'

/** The page waits for a test event, so it has less time than others, in milliseconds. */
const testTimeoutMs = 5_000

/**
 * Explains why nothing was sent to a URL.
 * @param isOperator - Whether the caller may see an address that only the network of the service knows, and can change the config.
 */
const explain = (
  { url, result }: { readonly url: string; readonly result: WebhookResult },
  { webhooks }: Pick<ControlParts, 'webhooks'>,
  isOperator: boolean,
): string | null => {
  if (result.result !== 'privateAddress') return null
  const problem = findWebhookUrlProblem(url, webhooks.options())
  if (problem !== undefined) return `The URL ${problem}.`
  const address = isOperator && result.address !== undefined ? `${result.address}, ` : ''
  const how = isOperator
    ? 'To allow such addresses, set "webhooks": { "allowPrivateAddresses": true } in the config: every user can then send requests into your network.'
    : 'Use a public URL, or ask the operator of this service to set webhooks.allowPrivateAddresses.'
  return `${new URL(url).hostname} resolves to ${address}an address of a private network or of this machine. Users choose the URLs of webhooks, so the service sends only to addresses of the public internet. ${how}`
}

/**
 * Sends a test event to a webhook.
 * @param about.user - The account, which the event names.
 * @param about.isOperator - Whether the caller is an operator.
 */
export const testWebhook = async (
  parts: Pick<ControlParts, 'now' | 'secrets' | 'webhooks'>,
  webhook: Webhook,
  { user, isOperator }: { readonly user: AlertUser; readonly isOperator: boolean },
): Promise<WebhookTestView> => {
  const { now, secrets, webhooks } = parts
  const { url } = webhook
  const event: TestEvent = { id: createId('evt'), type: 'webhook.test', createdAt: isoTime(now()), data: { user } }
  let signing: readonly string[]
  try {
    signing = listWebhookSecrets(openKey(webhook.sealed, webhook, secrets), now())
  } catch {
    return {
      ok: false,
      result: 'secretLost',
      fix: 'The service cannot decrypt its secret any more. Rotate the secret.',
    }
  }
  const result = await webhooks.send(
    { url, id: event.id, body: toWebhookBody(event), secrets: signing },
    { ...webhooks.options(), timeoutMs: testTimeoutMs },
  )
  return { ok: result.ok, result: result.result, fix: explain({ url, result }, parts, isOperator) }
}
