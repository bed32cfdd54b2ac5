import { createHmac, randomBytes } from 'node:crypto'
import { dayMs } from '../lib/time.ts'

const prefix = 'whsec_'
/** How long requests are also signed with the previous secret after a rotation, in milliseconds. */
const overlapMs = dayMs

/** The secrets of a webhook. A previous one signs too until `previousUntil`, in milliseconds since 1970. */
interface WebhookSecrets {
  readonly current: string
  readonly previous?: string
  readonly previousUntil?: number
}

/** Creates the secret that signs a webhook's requests, as Standard Webhooks has it: `whsec_` and 256 random bits in base64. */
export const createWebhookSecret = (): string => `${prefix}${randomBytes(32).toString('base64')}`

/** Parses what `rotateWebhookSecret` and `createWebhookSecret` return: the secret, or `SECRET PREVIOUS UNTIL`. */
const parse = (text: string): WebhookSecrets => {
  const [current = '', previous, until] = text.split(' ')
  return previous === undefined ? { current } : { current, previous, previousUntil: Number(until) }
}

/**
 * Replaces a webhook's secret. The previous one signs too for a day, so that no request is rejected while the receiver changes it.
 * @param stored - The text to replace; `undefined` if it cannot be decrypted.
 * @param now - Milliseconds since 1970.
 * @returns The new secret, and the text to store.
 */
export const rotateWebhookSecret = (
  stored: string | undefined,
  now: number,
): { readonly secret: string; readonly text: string } => {
  const secret = createWebhookSecret()
  return { secret, text: stored === undefined ? secret : `${secret} ${parse(stored).current} ${now + overlapMs}` }
}

/** Lists the secrets that sign a request now, the newest first. @param text - As stored. */
export const listWebhookSecrets = (text: string, now: number): readonly string[] => {
  const { current, previous, previousUntil = 0 } = parse(text)
  return previous === undefined || previousUntil <= now ? [current] : [current, previous]
}

/**
 * Signs a webhook's request as Standard Webhooks 1 has it: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 * @param message.id - The same for all attempts. The receiver can ignore an id that it has processed.
 * @param options.secrets - The signature has one part for each.
 * @param options.now - Milliseconds since 1970. The receiver rejects old signatures, so that a recorded request cannot be sent again.
 * @returns The headers.
 */
export const signWebhook = (
  { id, body }: { readonly id: string; readonly body: string },
  { secrets, now }: { readonly secrets: readonly string[]; readonly now: number },
): Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> => {
  const time = Math.floor(now / 1_000)
  const sign = (secret: string): string => {
    // Earlier builds wrote base64url, which this decodes too.
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')}`
  }
  return { 'webhook-id': id, 'webhook-timestamp': String(time), 'webhook-signature': secrets.map(sign).join(' ') }
}
