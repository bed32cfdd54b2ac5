import { openKey } from '../../lib/secrets/sealKey.ts'
import { apiErrors } from '../apiErrors.ts'
import { changeWithAudit } from '../changeWithAudit.ts'
import { requireAccountId } from '../route.ts'
import type { Caller, ControlParts } from '../route.ts'
import type { ApiError } from '../apiErrors.ts'

/**
 * Decrypts the stored copy of a key for its owner. Adds the audit log entry first, so that no reveal goes unlogged.
 * @throws {MembershipEnded} if the caller's role in a team ended.
 * @param id - The key's id.
 */
export const revealKey = async (
  parts: Pick<ControlParts, 'storage' | 'secrets' | 'config' | 'keys' | 'now'>,
  caller: Caller,
  id: string,
): Promise<{ apiKey: string } | { error: ApiError }> => {
  const { storage, secrets, config } = parts
  const userId = requireAccountId(caller)
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
  await changeWithAudit(
    parts,
    caller,
    async () => true,
    () => ({ action: 'key.reveal', subject: id }),
  )
  return { apiKey }
}
