import { createApiKey } from '../../lib/secrets/apiKey.ts'
import type { ApiKeyKind } from '../../lib/secrets/apiKey.ts'
import { storeKey } from '../../lib/secrets/storeKey.ts'
import type { StoredKey } from '../../lib/secrets/storeKey.ts'
import { createId } from '../../storage/createId.ts'
import type { ControlParts } from '../handler.ts'

/** Makes a key, and what is stored of it: a sealed copy only where keys are shown again. */
export const newKey = <Kind extends ApiKeyKind>(
  { secrets, config }: Pick<ControlParts, 'secrets' | 'config'>,
  { kind, userId, id = createId('key') }: { kind: Kind; userId: string; id?: string },
): { readonly apiKey: string; readonly stored: StoredKey & { readonly kind: Kind } } => {
  const apiKey = createApiKey(kind)
  const stored = storeKey(apiKey, { owner: { id, userId }, ...(config().reveal ? { secret: secrets[0] } : {}) })
  return { apiKey, stored: { ...stored, kind } }
}
