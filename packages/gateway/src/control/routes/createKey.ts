import { createApiKey } from '../../lib/secrets/apiKey.ts'
import type { ApiKeyKind } from '../../lib/secrets/apiKey.ts'
import { storeKey } from '../../lib/secrets/storeKey.ts'
import type { StoredKey } from '../../lib/secrets/storeKey.ts'
import { createId } from '../../storage/createId.ts'
import type { ControlParts } from '../route.ts'

/** Creates a key and its stored form, which contains an encrypted copy only if keys can be revealed. */
export const createKey = <Kind extends ApiKeyKind>(
  { secrets, config }: Pick<ControlParts, 'secrets' | 'config'>,
  { kind, userId, id = createId('key') }: { kind: Kind; userId: string; id?: string },
): { readonly apiKey: string; readonly stored: StoredKey & { readonly kind: Kind } } => {
  const apiKey = createApiKey(kind)
  const stored = storeKey(apiKey, { owner: { id, userId }, ...(config().reveal ? { secret: secrets[0] } : {}) })
  return { apiKey, stored: { ...stored, kind } }
}
