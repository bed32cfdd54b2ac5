import { createHmac, hkdfSync } from 'node:crypto'
import type { ServerSecret } from '../../lib/secrets/serverSecret.ts'
import { foldText } from '../../storage/foldText.ts'

/**
 * Hashes an email address under the server's secret, so that a row can be found by the address without holding it, and nobody with the database
 * alone can try addresses. Addresses that sign-up takes for the same one have the same hash.
 * @param email - As it was typed.
 * @param secret - One of the server's secrets.
 * @returns An HMAC-SHA-256, 32 bytes.
 * @example
 * declare const secret: Parameters<typeof hashEmail>[1]
 * hashEmail('Ann@example.org', secret).equals(hashEmail(' ann@EXAMPLE.org', secret)) // true
 */
export const hashEmail = (email: string, { key }: ServerSecret): Buffer =>
  // A key of its own: the secret's key seals API keys.
  createHmac('sha256', Buffer.from(hkdfSync('sha256', key, '', 'keyrail email hashes', 32)))
    .update(foldText(email))
    .digest()
