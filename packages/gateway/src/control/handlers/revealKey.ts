import { openKey } from '../../lib/secrets/sealKey.ts'
import { apiErrors } from '../apiErrors.ts'
import { actorOf, viewerOf } from '../handler.ts'
import type { Caller, ControlParts } from '../handler.ts'
import type { ApiError } from '../reply.ts'

/**
 * Opens the sealed copy of a key for its owner, and notes that in the audit log first: what cannot be noted is not shown.
 * @param id - The key's.
 */
export const revealKey = async (
  { storage, secrets, config, now }: Pick<ControlParts, 'storage' | 'secrets' | 'config' | 'now'>,
  caller: Caller,
  id: string,
): Promise<{ apiKey: string } | { rejection: ApiError }> => {
  const userId = viewerOf(caller).user.id
  const sealed = config().reveal ? await storage.keys.findSealed({ id, userId }) : undefined
  if (sealed === undefined)
    return {
      rejection: apiErrors.notRevealable('no copy of this key is kept: rotate it to see a new one once'),
    }
  let apiKey: string
  try {
    apiKey = openKey(sealed.sealed, { id: sealed.id, userId: sealed.userId }, secrets)
  } catch {
    return {
      rejection: apiErrors.notRevealable(
        'the copy of this key was sealed under a secret that is no longer there: rotate it to see a new one',
      ),
    }
  }
  await storage.auditLog.add({
    at: now(),
    userId,
    actor: actorOf(caller),
    action: 'key.reveal',
    subject: id,
    ip: caller.ip,
    detail: null,
  })
  return { apiKey }
}
