import { createSecretKey, hkdfSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

/** The secret under which keys are sealed. Shows nothing of itself when it is printed. */
export interface ServerSecret {
  /** 1 to 255. Sealed keys name it, so that old ones can be opened while the secret is being changed. */
  readonly version: number
  readonly key: KeyObject
}

const minLength = 32

/**
 * Makes the server's secret from what the operator gave.
 * @param text - At least 32 characters, random: no slow hash is run over it.
 * @param options.version - 1 to 255, another one for each secret of a service. @default 1
 * @throws {TypeError} where the text is too short or the version is none; the text is not repeated.
 * @example
 * import { randomBytes } from 'node:crypto'
 *
 * const secret = createServerSecret(randomBytes(32).toString('base64url'))
 */
export const createServerSecret = (text: string, { version = 1 }: { version?: number } = {}): ServerSecret => {
  if (typeof text !== 'string' || text.length < minLength)
    throw new TypeError(
      `the server secret must have at least ${minLength} characters: make one with openssl rand -base64 48`,
    )
  if (!Number.isInteger(version) || version < 1 || version > 255)
    throw new TypeError('the version of the server secret must be a whole number from 1 to 255')
  return { version, key: createSecretKey(Buffer.from(hkdfSync('sha256', text, '', 'keyrail sealed keys', 32))) }
}
