import { Webhook } from 'standardwebhooks'
import type { ReceivedRequest } from './startReceiver.ts'

/**
 * Verifies a request as a receiver does: with the library of Standard Webhooks, so not with our own code. It compares the time with the real clock.
 * @returns The body.
 * @throws {Error} if the request was not signed with the secret.
 */
export const verifyWebhook = (request: ReceivedRequest | undefined, secret: string): unknown => {
  if (request === undefined) throw new Error('there is no request')
  return new Webhook(secret).verify(request.body, request.headers as Record<string, string>)
}
