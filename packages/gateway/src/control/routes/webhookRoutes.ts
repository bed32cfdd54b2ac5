import type { TestEvent } from '../../alerts/alertEvent.ts'
import { toWebhookBody } from '../../alerts/alertEvent.ts'
import { findWebhookUrlProblem } from '../../alerts/sendWebhook.ts'
import type { WebhookResult } from '../../alerts/sendWebhook.ts'
import { createWebhookSecret, listWebhookSecrets, rotateWebhookSecret } from '../../alerts/webhookSecret.ts'
import { openKey, sealKey } from '../../lib/secrets/sealKey.ts'
import { createId } from '../../storage/createId.ts'
import type { Webhook } from '../../storage/webhooks.ts'
import { apiErrors } from '../apiErrors.ts'
import { changeWithAudit } from '../changeWithAudit.ts'
import { confirmBody } from '../contract/account.ts'
import { createWebhookBody, newWebhookView, webhookTestView, webhookView } from '../contract/alerts.ts'
import type { WebhookTestView, WebhookView } from '../contract/controlApi.d.ts'
import { requireAccount, requireAccountId, requireViewer, route } from '../route.ts'
import type { ControlParts, Route } from '../route.ts'
import { createView } from '../views/createView.ts'
import { isoTime } from '../views/times.ts'

/** Most webhooks that an account can have. */
export const maxWebhooks = 5
/** The page waits for a test event, so it has less time than others, in milliseconds. */
const testTimeoutMs = 5_000

/** Writes a webhook without its secret. */
export const toWebhookView: (webhook: Webhook) => WebhookView = createView(webhookView)

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
  const address = isOperator && result.address !== undefined ? `${result.address}, which is` : 'an address that is'
  const how = isOperator
    ? 'To allow such addresses, set "webhooks": { "allowPrivateAddresses": true } in the config: every user can then send requests into your network.'
    : 'Use a public URL, or ask the operator of this service to set webhooks.allowPrivateAddresses.'
  return `${new URL(url).hostname} resolves to ${address} of a private network or of this machine. Users choose the URLs of webhooks, so the service sends only to addresses of the public internet. ${how}`
}

/** Opens the secret of a webhook; `undefined` if it was sealed with a server secret that is lost. */
const openIfPossible = (webhook: Webhook, { secrets }: Pick<ControlParts, 'secrets'>): string | undefined => {
  try {
    return openKey(webhook.sealed, webhook, secrets)
  } catch {
    return undefined
  }
}

/** The routes of the webhooks that get alerts. */
export const webhookRoutes: readonly Route[] = [
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
      const { url, allUsers = false, service = false } = body
      if ((allUsers || service) && requireViewer(caller).user.role !== 'operator')
        return { error: apiErrors.operatorRequired() }
      if ((allUsers || service) && requireAccount(caller).kind === 'team') {
        const field = allUsers ? 'allUsers' : 'service'
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
            service,
            sealed: sealKey(secret, owner, secrets[0]),
            createdAt: now(),
            max: maxWebhooks,
          }),
        // The path and the query of the URL can hold a secret.
        ({ id }) => ({ action: 'webhook.create', subject: id, detail: { host: new URL(url).host, allUsers, service } }),
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
      description: 'Requests are also signed with the old one for 24 hours, so that no alert is rejected while you replace it.',
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
      const event: TestEvent = {
        id: createId('evt'),
        type: 'webhook.test',
        createdAt: isoTime(now()),
        data: { user: { id, email: name } },
      }
      const { url } = webhook
      const signing = listWebhookSecrets(openKey(webhook.sealed, owner, secrets), now())
      const result = await webhooks.send(
        { url, id: event.id, body: toWebhookBody(event), secrets: signing },
        { ...webhooks.options(), timeoutMs: testTimeoutMs },
      )
      const isOperator = requireViewer(caller).user.role === 'operator'
      const tested: WebhookTestView = {
        ok: result.ok,
        result: result.result,
        fix: explain({ url, result }, parts, isOperator),
      }
      return { response: tested }
    },
  ),
]
