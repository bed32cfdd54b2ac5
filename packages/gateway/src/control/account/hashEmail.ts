import { createHmac, hkdfSync } from 'node:crypto'
import type { ServerSecret } from '../../lib/secrets/serverSecret.ts'
import { toEmailIdentity } from '../../storage/emailIdentity.ts'

/**
 * Hashes an email address with a key derived from the server secret, so that a row can be found by email address without storing it, and
 * a leaked database cannot be searched for addresses. Addresses of the same person have the same hash.
 * @param email - As the user typed it.
 * @param secret - One of the server secrets.
 * @returns An HMAC-SHA-256, 32 bytes.
 * @example
 * declare const secret: Parameters<typeof hashEmail>[1]
 * hashEmail('Ann@example.org', secret).equals(hashEmail(' ann@EXAMPLE.org', secret)) // true
 */
export const hashEmail = (email: string, { key }: ServerSecret): Buffer =>
  // A separate key: the secret's own key encrypts API keys.
  createHmac('sha256', Buffer.from(hkdfSync('sha256', key, '', 'keyrail email hashes', 32)))
    .update(toEmailIdentity(email) ?? email)
    .digest()
