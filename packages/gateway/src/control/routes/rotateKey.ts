import type { Change } from '../../storage/changes.ts'
import type { Key } from '../../storage/keys.ts'
import { changeWithAudit } from '../changeWithAudit.ts'
import { apiErrors } from '../apiErrors.ts'
import { readExpiry } from '../readExpiry.ts'
import { requireAccountId } from '../route.ts'
import type { Caller, ControlParts } from '../route.ts'
import type { ApiError } from '../apiErrors.ts'
import { createKey } from './createKey.ts'
import type { RotateBody } from '../contract/controlApi.d.ts'

const day = 86_400_000

/** Replaces a key with a new one. @returns The stored key, and the new key in plain text, a secret. */
export const rotateKey = async (
  parts: ControlParts,
  caller: Caller,
  { key, body: { graceDays = 0, expiresAt } }: { key: Key; body: RotateBody },
): Promise<{ key: Key; apiKey: string } | { error: ApiError }> => {
  const now = parts.now()
  const expiry = readExpiry(expiresAt, now)
  if ('problem' in expiry) return { error: apiErrors.invalid([expiry.problem]) }
  if (expiry.at === undefined && key.expiresAt !== null && key.expiresAt <= now)
    return {
      error: apiErrors.invalid([
        {
          field: 'expiresAt',
          fix: 'is required because the key has expired: send a time in the future, or null for no expiry',
        },
      ]),
    }
  const { id, kind } = key
  const userId = requireAccountId(caller)
  const created = createKey(parts, { kind, userId, id })
  const rotated = await changeWithAudit(
    parts,
    caller,
    ({ keys }) =>
      keys.rotate({
        id,
        userId,
        key: created.stored,
        oldUntil: graceDays === 0 ? null : now + graceDays * day,
        ...(expiry.at === undefined ? {} : { expiresAt: expiry.at }),
        now,
      }),
    () => ({
      action: 'key.rotate',
      subject: id,
      detail: { graceDays, ...(expiresAt === undefined ? {} : { expiresAt }) },
      forget: toForgotten(key),
    }),
  )
  if (rotated === 'notFound') return { error: apiErrors.notFound() }
  if (rotated === 'revoked') return { error: apiErrors.revoked() }
  return { key: rotated, apiKey: created.apiKey }
}

/** Ends the grace period of a key that was rotated. @returns The key, or why it was not changed. */
export const dropOldKey = (parts: ControlParts, caller: Caller, key: Key): Promise<Key | 'notFound' | 'revoked'> => {
  const { id, userId } = key
  return changeWithAudit(
    parts,
    caller,
    ({ keys }) => keys.dropOld({ id, userId }),
    () => ({ action: 'key.dropOld', subject: id, forget: toForgotten(key) }),
  )
}

/** What the caches forget when a key changes. */
const toForgotten = ({ id, appId }: Key): Change => (appId === null ? { kind: 'key', id } : { kind: 'app', id: appId })
