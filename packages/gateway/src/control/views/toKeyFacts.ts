import type { Key } from '../../storage/keys.ts'
import type { KeyFacts, KeyState } from '../contract/keyState.ts'
import { isoTime, isoTimeOrNull } from './times.ts'

const stateOf = ({ state, expiresAt, oldUntil }: Key, now: number): KeyState => {
  if (state === 'revoked') return 'revoked'
  if (expiresAt !== null && expiresAt <= now) return 'expired'
  return oldUntil !== null && oldUntil > now ? 'rotated' : 'active'
}

/** What is shown of any key. */
export const toKeyFacts = (key: Key, now: number): KeyFacts => ({
  state: stateOf(key, now),
  ending: key.ending,
  revealable: key.revealable,
  createdAt: isoTime(key.createdAt),
  rotatedAt: isoTimeOrNull(key.rotatedAt),
  expiresAt: isoTimeOrNull(key.expiresAt),
  oldUntil: key.oldUntil !== null && key.oldUntil > now ? isoTime(key.oldUntil) : null,
})
