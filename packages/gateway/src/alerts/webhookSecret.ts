import { createHmac, randomBytes } from 'node:crypto'

/** Creates the secret that signs a webhook's requests: `whsec_` and 256 random bits. */
export const createWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64url')}`

/**
 * Signs the body of a webhook's request.
 * @param options.now - Milliseconds since 1970. The receiver rejects old signatures, so that a recorded request cannot be sent again.
 * @returns The header `Keyrail-Signature`: `t=` seconds since 1970, `,v1=` the HMAC-SHA-256 of the time, a dot and the body, in lower-case hex.
 */
export const signWebhook = (body: string, { secret, now }: { secret: string; now: number }): string => {
  const time = Math.floor(now / 1_000)
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`
}
