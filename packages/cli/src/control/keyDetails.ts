import type { AppView } from '@keyrail/gateway'
import type { Style } from '../output/style.ts'

/** The properties of a key, whether of an app or an API key. */
export type KeyDetails = Pick<
  AppView['key'],
  'state' | 'ending' | 'revealable' | 'createdAt' | 'rotatedAt' | 'expiresAt' | 'oldUntil'
>

/** Formats a key's state for a table. */
export function formatKeyState({ state }: Pick<KeyDetails, 'state'>, style: Style): string {
  return state === 'active' || state === 'rotated' ? state : style.bad(state)
}

/** Formats a key's properties as rows of a name and a value. */
export function formatKeyDetails(key: KeyDetails, style: Style): string[][] {
  return [
    ['state', formatKeyState(key, style)],
    ['ends with', key.ending],
    ['created', key.createdAt],
    ...(key.rotatedAt === null ? [] : [['rotated', key.rotatedAt]]),
    ['expires', key.expiresAt ?? 'never'],
    ...(key.oldUntil === null ? [] : [['old key', `works until ${key.oldUntil}`]]),
    ['revealable', key.revealable ? 'yes, by its owner' : 'no: rotate it to get a new key'],
  ]
}

/** Describes what happened to the previous key. */
export function describeOldKey({ oldUntil }: Pick<KeyDetails, 'oldUntil'>): string {
  return oldUntil === null ? 'The old key no longer works.' : `The old key works until ${oldUntil}.`
}
