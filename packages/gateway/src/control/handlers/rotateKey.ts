import type { Key } from '../../storage/keys.ts'
import { change } from '../change.ts'
import type { RotateBody } from '../contract/keyState.ts'
import { apiErrors } from '../apiErrors.ts'
import { readExpiry } from '../expiry.ts'
import { viewerOf } from '../handler.ts'
import type { Caller, ControlParts } from '../handler.ts'
import type { ApiError } from '../reply.ts'
import { newKey } from './newKey.ts'

const day = 86_400_000

/** Puts a new key in the place of one. @returns The row and the key itself, a secret. */
export const rotateKey = async (
  parts: ControlParts,
  caller: Caller,
  { key, body: { graceDays = 0, expiresAt } }: { key: Key; body: RotateBody },
): Promise<{ key: Key; apiKey: string } | { rejection: ApiError }> => {
  const now = parts.now()
  const expiry = readExpiry(expiresAt, now)
  if ('problem' in expiry) return { rejection: apiErrors.invalid([expiry.problem]) }
  if (expiry.at === undefined && key.expiresAt !== null && key.expiresAt <= now)
    return {
      rejection: apiErrors.invalid([
        { field: 'expiresAt', fix: 'is needed, as the key has expired: give a time to come, or null for never' },
      ]),
    }
  const { id, kind, appId } = key
  const userId = viewerOf(caller).user.id
  const made = newKey(parts, { kind, userId, id })
  const rotated = await change(
    parts,
    caller,
    ({ keys }) =>
      keys.rotate({
        id,
        userId,
        key: made.stored,
        oldUntil: graceDays === 0 ? null : now + graceDays * day,
        ...(expiry.at === undefined ? {} : { expiresAt: expiry.at }),
        now,
      }),
    () => ({
      action: 'key.rotate',
      subject: id,
      detail: { graceDays, ...(expiresAt === undefined ? {} : { expiresAt }) },
      forget: appId === null ? { kind: 'key', id } : { kind: 'app', id: appId },
    }),
  )
  if (rotated === 'notFound') return { rejection: apiErrors.notFound() }
  if (rotated === 'revoked') return { rejection: apiErrors.revoked() }
  return { key: rotated, apiKey: made.apiKey }
}
