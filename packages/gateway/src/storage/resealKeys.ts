import { openKey, sealKey } from '../lib/secrets/sealKey.ts'
import type { ServerSecret } from '../lib/secrets/serverSecret.ts'
import type { SealedSecrets } from './sealedSecrets.ts'

const pageSize = 200

/**
 * Reseals all keys with the newest server secret, so that older secrets can be removed. A service that has both secrets can run at the same
 * time. If this is interrupted, run it again.
 * @param keys - The repository.
 * @param secrets - The newest secret first, then the secrets that keys may still be sealed with.
 * @returns How many keys were resealed, and the ids of keys that cannot be decrypted. Those are not changed.
 * @example
 * declare const keys: Parameters<typeof resealKeys>[0]
 * declare const secrets: Parameters<typeof resealKeys>[1]
 * const { unreadable } = await resealKeys(keys, secrets)
 */
export const resealKeys = async (
  keys: SealedSecrets,
  secrets: readonly [newest: ServerSecret, ...older: ServerSecret[]],
): Promise<{ resealed: number; unreadable: readonly string[] }> => {
  const [newest] = secrets
  const unreadable: string[] = []
  let resealed = 0
  for (let after = ''; ;) {
    const page = await keys.listSealed({ after, limit: pageSize })
    for (const { id, userId, sealed } of page) {
      after = id
      if (sealed[0] === newest.version) continue
      let key: string
      try {
        key = openKey(sealed, { id, userId }, secrets)
      } catch {
        unreadable.push(id)
        continue
      }
      // Does nothing if the key was rotated or revoked since the page was read.
      if (await keys.replaceSealed({ id, from: sealed, to: sealKey(key, { id, userId }, newest) })) resealed += 1
    }
    if (page.length < pageSize) return { resealed, unreadable }
  }
}
