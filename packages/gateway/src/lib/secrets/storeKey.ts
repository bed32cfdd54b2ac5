import { parseApiKey } from './apiKey.ts'
import type { ApiKeyKind } from './apiKey.ts'
import { hashApiKey } from './hashApiKey.ts'
import { sealKey } from './sealKey.ts'
import type { KeyOwner } from './sealedParts.ts'
import type { ServerSecret } from './serverSecret.ts'

/** A key in the form that is stored: from it alone nobody can make a call. */
export interface StoredKey {
  /** The id of its row, to which the sealed copy is bound. */
  readonly id: string
  readonly kind: ApiKeyKind
  /** SHA-256 in lower hex. */
  readonly hash: string
  /** The last four characters, which are checksum, to tell keys apart by. */
  readonly ending: string
  /** For showing the key again; `null` where no copy is kept. */
  readonly sealed: Uint8Array | null
}

/**
 * Makes what is stored of a key.
 * @param key - Made by `createApiKey`.
 * @param options.owner - The row and the user that it will belong to.
 * @param options.secret - Without it no copy is kept, and the key can never be shown again.
 * @throws {TypeError} where the text is no key; it is not repeated.
 * @example
 * declare const secret: NonNullable<Parameters<typeof storeKey>[1]['secret']>
 * declare const id: string
 * declare const userId: string
 * const stored = storeKey(createApiKey('app'), { owner: { id, userId }, secret })
 */
export const storeKey = (key: string, { owner, secret }: { owner: KeyOwner; secret?: ServerSecret }): StoredKey => {
  const parsed = parseApiKey(key)
  if (parsed === undefined) throw new TypeError('key is no API key: make one with createApiKey')
  return {
    id: owner.id,
    kind: parsed.kind,
    hash: hashApiKey(key),
    ending: key.slice(-4),
    sealed: secret === undefined ? null : sealKey(key, owner, secret),
  }
}
