import { createHash, randomBytes } from 'node:crypto'
import { checksumLength, getChecksum, toBase62 } from '../../lib/secrets/base62.ts'

/** The kind of a secret: a personal access token, an invite to sign up, a password reset link, a link that verifies an email address, one that logs in, or an invite to a team. */
export type SecretTextKind = 'accessToken' | 'invite' | 'link' | 'email' | 'logIn' | 'memberInvite'

const prefixes: Readonly<Record<SecretTextKind, string>> = {
  accessToken: 'krp_',
  invite: 'kri_',
  link: 'krl_',
  email: 'kre_',
  logIn: 'krd_',
  memberInvite: 'krm_',
}
const shape = /^kr[piledm]_[0-9A-Za-z]{39}$/

/**
 * Creates a random secret in the format of API keys: 192 random bits in base62, then 6 characters of CRC-32, so that secret scanners
 * recognize it and a typo is detected without a lookup.
 * @returns Such as `krp_…`, 43 characters.
 */
export const createSecretText = (kind: SecretTextKind): string => {
  const head = `${prefixes[kind]}${toBase62(BigInt(`0x${randomBytes(24).toString('hex')}`), 33)}`
  return head + getChecksum(head)
}

/** Whether a text has the format and a valid checksum of such a secret. */
export const isSecretText = (kind: SecretTextKind, text: string): boolean =>
  shape.test(text) &&
  text.startsWith(prefixes[kind]) &&
  text.slice(-checksumLength) === getChecksum(text.slice(0, -checksumLength))

/** Hashes a random secret for storage and lookup: SHA-256 in lower-case hex. */
export const hashSecret = (text: string): string => createHash('sha256').update(text).digest('hex')
