import { parseApiKey } from './apiKey.ts'
import type { ApiKeyKind } from './apiKey.ts'
import { hashApiKey } from './hashApiKey.ts'
import { sealKey } from './sealKey.ts'
import type { KeyOwner } from './sealKey.ts'
import type { ServerSecret } from './serverSecret.ts'

/** A key as it is stored. It cannot be used to send requests. */
export interface StoredKey {
  /** The id of its row. The encrypted copy is bound to it. */
  readonly id: string
  readonly kind: ApiKeyKind
  /** SHA-256 in lower-case hex. */
  readonly hash: string
  /** The last four characters, to distinguish keys. They are part of the checksum. */
  readonly ending: string
  /** The encrypted copy, to show the key again; `null` if there is none. */
  readonly sealed: Uint8Array | null
}

/**
 * Converts a key to the form that is stored.
 * @param key - Created by `createApiKey`.
 * @param options.owner - The row and the user that the key will belong to.
 * @param options.secret - Without it, no encrypted copy is stored and the key can never be shown again.
 * @throws {TypeError} If the text is not a key. The message does not contain it.
 * @example
 * declare const secret: NonNullable<Parameters<typeof storeKey>[1]['secret']>
 * declare const id: string
 * declare const userId: string
 * const stored = storeKey(createApiKey('app'), { owner: { id, userId }, secret })
 */
export const storeKey = (key: string, { owner, secret }: { owner: KeyOwner; secret?: ServerSecret }): StoredKey => {
  const parsed = parseApiKey(key)
  if (parsed === undefined) throw new TypeError('key is not an API key: create one with createApiKey')
  return {
    id: owner.id,
    kind: parsed.kind,
    hash: hashApiKey(key),
    ending: key.slice(-4),
    sealed: secret === undefined ? null : sealKey(key, owner, secret),
  }
}
