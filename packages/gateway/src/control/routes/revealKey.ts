import { openKey } from '../../lib/secrets/sealKey.ts'
import { apiErrors } from '../apiErrors.ts'
import { getActor, requireUserId } from '../route.ts'
import type { Caller, ControlParts } from '../route.ts'
import type { ApiError } from '../apiErrors.ts'

/**
 * Decrypts the stored copy of a key for its owner. Adds the audit log entry first, so that no reveal goes unlogged.
 * @param id - The key's id.
 */
export const revealKey = async (
  { storage, secrets, config, now }: Pick<ControlParts, 'storage' | 'secrets' | 'config' | 'now'>,
  caller: Caller,
  id: string,
): Promise<{ apiKey: string } | { error: ApiError }> => {
  const userId = requireUserId(caller)
  const sealed = config().reveal ? await storage.keys.findSealed({ id, userId }) : undefined
  if (sealed === undefined)
    return {
      error: apiErrors.notRevealable('No copy of this key is stored. Rotate it to get a new key.'),
    }
  let apiKey: string
  try {
    apiKey = openKey(sealed.sealed, { id: sealed.id, userId: sealed.userId }, secrets)
  } catch {
    return {
      error: apiErrors.notRevealable(
        'The service cannot decrypt its copy of this key, which still works. It probably runs with another secret than the one that encrypted the copy: ask its operator to check KEYRAIL_SECRET. Rotate the key only if that secret is lost.',
      ),
    }
  }
  await storage.auditLog.add({
    at: now(),
    userId,
    actor: getActor(caller),
    action: 'key.reveal',
    subject: id,
    ip: caller.ip,
    detail: null,
  })
  return { apiKey }
}
