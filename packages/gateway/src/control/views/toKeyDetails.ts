import { z } from 'zod'
import type { Key } from '../../storage/keys.ts'
import type { AppView, KeyState } from '../contract/controlApi.d.ts'
import { keyDetails } from '../contract/keyState.ts'
import { createView } from './createView.ts'
import { isoTime } from './times.ts'

const getKeyState = ({ state, expiresAt, oldUntil }: Key, now: number): KeyState => {
  if (state === 'revoked') return 'revoked'
  if (expiresAt !== null && expiresAt <= now) return 'expired'
  return oldUntil !== null && oldUntil > now ? 'rotated' : 'active'
}

const toDetails = createView(z.object(keyDetails))

/** Gets the details common to all keys. */
export const toKeyDetails = (key: Key, now: number): Omit<AppView['key'], 'id' | 'urls'> => ({
  ...toDetails(key),
  state: getKeyState(key, now),
  oldUntil: key.oldUntil !== null && key.oldUntil > now ? isoTime(key.oldUntil) : null,
})
