import { randomBytes } from 'node:crypto'
import { checksumLength, getChecksum, toBase62 } from './base62.ts'

/** The kind of a key. An app's key works on all networks of the app, an API key on one network. */
export type ApiKeyKind = 'app' | 'testnet' | 'mainnet'

const letters: Readonly<Record<ApiKeyKind, string>> = { app: 'a', testnet: 't', mainnet: 'm' }
const kinds: ReadonlyMap<string, ApiKeyKind> = new Map([
  ['a', 'app'],
  ['t', 'testnet'],
  ['m', 'mainnet'],
])

const shape = /^kr_[atm][0-9A-Za-z]{39}$/

/**
 * Creates a random key: `kr_`, the kind's letter, 192 random bits as 33 base62 characters, then a CRC-32 as 6 characters.
 * The key is a secret. This function does not store it.
 * @param kind - The kind of key.
 * @returns A key for which `isApiKey` is true.
 * @example
 * const key = createApiKey('app') // kr_a…
 */
export const createApiKey = (kind: ApiKeyKind): string => {
  const random = BigInt(`0x${randomBytes(24).toString('hex')}`)
  const head = `kr_${letters[kind]}${toBase62(random, 33)}`
  // The checksum covers the kind's letter, so it detects a changed letter too.
  return head + getChecksum(head)
}

/**
 * Parses the kind of a key. Only checks its shape and checksum, not whether the key exists.
 * @param text - The key that a client sent.
 * @returns `{ kind }`, or `undefined` if the text cannot be a key.
 * @example
 * parseApiKey(createApiKey('testnet'))?.kind // 'testnet'
 */
export const parseApiKey = (text: string): { kind: ApiKeyKind } | undefined => {
  if (!shape.test(text) || text.slice(-checksumLength) !== getChecksum(text.slice(0, -checksumLength))) return undefined
  const kind = kinds.get(text.charAt(3))
  return kind === undefined ? undefined : { kind }
}

/**
 * Whether a text has the shape and the checksum of a key.
 * @param text - The key that a client sent.
 * @example
 * isApiKey('kr_a') // false
 */
export const isApiKey = (text: string): boolean => parseApiKey(text) !== undefined
