import type { Key } from '../../storage/keys.ts'
import type { AppView, KeyState } from '../contract/controlApi.d.ts'
import { isoTime, isoTimeOrNull } from './times.ts'

const getKeyState = ({ state, expiresAt, oldUntil }: Key, now: number): KeyState => {
  if (state === 'revoked') return 'revoked'
  if (expiresAt !== null && expiresAt <= now) return 'expired'
  return oldUntil !== null && oldUntil > now ? 'rotated' : 'active'
}

/** Gets the details common to all keys. */
export const toKeyDetails = (key: Key, now: number): Omit<AppView['key'], 'id' | 'urls'> => ({
  state: getKeyState(key, now),
  ending: key.ending,
  revealable: key.revealable,
  createdAt: isoTime(key.createdAt),
  rotatedAt: isoTimeOrNull(key.rotatedAt),
  expiresAt: isoTimeOrNull(key.expiresAt),
  oldUntil: key.oldUntil !== null && key.oldUntil > now ? isoTime(key.oldUntil) : null,
})
