import { openKey, sealKey } from '../lib/secrets/sealKey.ts'
import type { ServerSecret } from '../lib/secrets/serverSecret.ts'
import type { Keys } from './keys.ts'

const pageSize = 200

/**
 * Seals every key anew under the newest server secret, so that the older ones can be thrown away. A service that knows both may go on
 * meanwhile, and what stops half way is begun again.
 * @param keys - The repository.
 * @param secrets - The newest secret first, then those that keys may still be sealed under.
 * @returns How many were sealed anew, and the ids of those that no secret opens: they are left as they are.
 * @example
 * declare const keys: Parameters<typeof resealKeys>[0]
 * declare const secrets: Parameters<typeof resealKeys>[1]
 * const { unreadable } = await resealKeys(keys, secrets)
 */
export const resealKeys = async (
  keys: Pick<Keys, 'listSealed' | 'replaceSealed'>,
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
      // Where it was rotated or revoked since the page was read, what is there now is newer than this.
      if (await keys.replaceSealed({ id, from: sealed, to: sealKey(key, { id, userId }, newest) })) resealed += 1
    }
    if (page.length < pageSize) return { resealed, unreadable }
  }
}
