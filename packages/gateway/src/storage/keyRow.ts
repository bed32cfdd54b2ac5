import type { Selectable } from 'kysely'
import type { StoredKey } from '../lib/secrets/storeKey.ts'
import { hashBytes } from './hashBytes.ts'
import type { Tables } from './tables.ts'

type Columns = Omit<Selectable<Tables['keys']>, 'appId' | 'slot' | 'name' | 'description'>

/** The columns of a new key that are the same for an app's key and an API key. */
export const keyRow = (
  { id, kind, hash, ending, sealed }: StoredKey,
  { userId, now, expiresAt = null }: { userId: string; now: number; expiresAt?: number | null },
): Columns => ({
  id,
  userId,
  kind,
  sha256: hashBytes(hash),
  ending,
  sealed,
  oldSha256: null,
  oldUntil: null,
  state: 'active',
  version: 1,
  createdAt: now,
  rotatedAt: null,
  revokedAt: null,
  expiresAt,
})
