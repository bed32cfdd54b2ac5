import { createHash, randomBytes } from 'node:crypto'
import { checksumLength, getChecksum, toBase62 } from '../../lib/secrets/base62.ts'

/** What a secret opens: the control API for a script, sign-up once, or a new password once. */
export type SecretTextKind = 'accessToken' | 'invite' | 'link'

const startOf: Readonly<Record<SecretTextKind, string>> = { accessToken: 'krp_', invite: 'kri_', link: 'krl_' }
const shape = /^kr[pil]_[0-9A-Za-z]{39}$/

/**
 * Makes a new random secret of the shape that API keys have: 192 random bits in base62, then 6 of CRC-32, so that scanners of code know
 * it and a mistyped one is seen without a lookup.
 * @returns Such as `krp_…`, 43 characters.
 */
export const createSecretText = (kind: SecretTextKind): string => {
  const head = `${startOf[kind]}${toBase62(BigInt(`0x${randomBytes(24).toString('hex')}`), 33)}`
  return head + getChecksum(head)
}

/** Whether a text has the shape and the checksum of such a secret. */
export const isSecretText = (kind: SecretTextKind, text: string): boolean =>
  shape.test(text) &&
  text.startsWith(startOf[kind]) &&
  text.slice(-checksumLength) === getChecksum(text.slice(0, -checksumLength))

/** The form in which a random secret is stored and looked up: its SHA-256 in lower hex. */
export const hashSecret = (text: string): string => createHash('sha256').update(text).digest('hex')
