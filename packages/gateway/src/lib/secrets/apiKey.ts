import { randomBytes } from 'node:crypto'
import { checksumLength, checksumOf, toBase62 } from './base62.ts'

/** What a key opens: an app's key both of its networks, an API key one network. */
export type ApiKeyKind = 'app' | 'testnet' | 'mainnet'

const letterOf: Readonly<Record<ApiKeyKind, string>> = { app: 'a', testnet: 't', mainnet: 'm' }
const kindOf: ReadonlyMap<string, ApiKeyKind> = new Map([
  ['a', 'app'],
  ['t', 'testnet'],
  ['m', 'mainnet'],
])

const shape = /^kr_[atm][0-9A-Za-z]{39}$/

/**
 * Makes a new random key: `kr_`, the kind's letter, 192 random bits as 33 base62 characters, then 6 of CRC-32.
 * The key is a secret and is kept nowhere by this function.
 * @param kind - What the key opens.
 * @returns A key for which `isApiKey` is true.
 * @example
 * const key = createApiKey('app') // kr_a…
 */
export const createApiKey = (kind: ApiKeyKind): string => {
  const random = BigInt(`0x${randomBytes(24).toString('hex')}`)
  const head = `kr_${letterOf[kind]}${toBase62(random, 33)}`
  // The kind's letter is part of what is summed up, so that a changed letter is caught as well.
  return head + checksumOf(head)
}

/**
 * Reads a key's kind out of its text, by shape and checksum alone: whether anyone owns the key is not known here.
 * @param text - What a caller gave as its key.
 * @returns `{ kind }`, or `undefined` where the text cannot be a key.
 * @example
 * parseApiKey(createApiKey('testnet'))?.kind // 'testnet'
 */
export const parseApiKey = (text: string): { kind: ApiKeyKind } | undefined => {
  if (!shape.test(text) || text.slice(-checksumLength) !== checksumOf(text.slice(0, -checksumLength))) return undefined
  const kind = kindOf.get(text.charAt(3))
  return kind === undefined ? undefined : { kind }
}

/**
 * Whether a text has the shape and the checksum of a key.
 * @param text - What a caller gave as its key.
 * @example
 * isApiKey('kr_a') // false
 */
export const isApiKey = (text: string): boolean => parseApiKey(text) !== undefined
