import { createSecretKey, hkdfSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

/** The secret that encrypts keys. Printing it does not reveal it. */
export interface ServerSecret {
  /** 1 to 255. Stored with each encrypted key, so that older keys can be decrypted while the secret is rotated. */
  readonly version: number
  readonly key: KeyObject
}

const minLength = 32

/**
 * Creates a server secret.
 * @param text - At least 32 random characters. The key is derived with HKDF, not with a slow hash.
 * @param options.version - 1 to 255, unique among the secrets of a service. @default 1
 * @throws {TypeError} If the text is too short or the version is invalid. The message does not contain the text.
 * @example
 * import { randomBytes } from 'node:crypto'
 *
 * const secret = createServerSecret(randomBytes(32).toString('base64url'))
 */
export const createServerSecret = (text: string, { version = 1 }: { version?: number } = {}): ServerSecret => {
  if (typeof text !== 'string' || text.length < minLength)
    throw new TypeError(
      `the server secret must have at least ${minLength} characters: create one with openssl rand -base64 48`,
    )
  if (!Number.isInteger(version) || version < 1 || version > 255)
    throw new TypeError('the version of the server secret must be a whole number from 1 to 255')
  return { version, key: createSecretKey(Buffer.from(hkdfSync('sha256', text, '', 'keyrail sealed keys', 32))) }
}
