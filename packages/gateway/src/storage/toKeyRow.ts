import type { Selectable } from 'kysely'
import type { StoredKey } from '../lib/secrets/storeKey.ts'
import { toNewRow } from './columns.ts'
import type { NewOf } from './columns.ts'
import { toHashBytes } from './columnValues.ts'
import { keyColumns } from './tables.ts'
import type { Tables } from './tables.ts'

/** Gets the row of a new key, which has no slot yet. */
export const toKeyRow = (
  { id, kind, hash, ending, sealed }: StoredKey,
  record: Omit<NewOf<typeof keyColumns>, 'id' | 'kind' | 'ending' | 'state' | 'version'>,
): Selectable<Tables['keys']> => ({
  ...toNewRow(keyColumns, { ...record, id, kind, ending, state: 'active', version: 1 }),
  slot: null,
  sha256: toHashBytes(hash),
  sealed,
  oldSha256: null,
})
