import type { Selectable } from 'kysely'
import type { StoredKey } from '../lib/secrets/storeKey.ts'
import { toHashBytes } from './columnValues.ts'
import type { Tables } from './tables.ts'

type Columns = Omit<Selectable<Tables['keys']>, 'appId' | 'network' | 'slot' | 'name' | 'description'>

/** Gets the columns of a new key that app keys and API keys share. */
export const toKeyRow = (
  { id, kind, hash, ending, sealed }: StoredKey,
  { userId, now, expiresAt = null }: { userId: string; now: number; expiresAt?: number | null },
): Columns => ({
  id,
  userId,
  kind,
  sha256: toHashBytes(hash),
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
  recordDetails: 0,
})
