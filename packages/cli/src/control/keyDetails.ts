import type { AppView } from '@keyrail/gateway'
import type { Style } from '../output/style.ts'

/** What every key has, of an app or by itself. */
export type KeyFacts = Pick<
  AppView['key'],
  'state' | 'ending' | 'revealable' | 'createdAt' | 'rotatedAt' | 'expiresAt' | 'oldUntil'
>

/** A key's state, as it stands in a table. */
export function formatKeyState({ state }: Pick<KeyFacts, 'state'>, style: Style): string {
  return state === 'active' || state === 'rotated' ? state : style.bad(state)
}

/** What is known of a key, as rows of a name and a value. */
export function formatKeyDetails(key: KeyFacts, style: Style): string[][] {
  return [
    ['state', formatKeyState(key, style)],
    ['ends in', key.ending],
    ['made', key.createdAt],
    ...(key.rotatedAt === null ? [] : [['rotated', key.rotatedAt]]),
    ['expires', key.expiresAt ?? 'never'],
    ...(key.oldUntil === null ? [] : [['old key', `works until ${key.oldUntil}`]]),
    ['shown again', key.revealable ? 'to its owner, by reveal' : 'never: rotate it to see a new one'],
  ]
}

/** What became of the key before, in a sentence. */
export function describeOldKey({ oldUntil }: Pick<KeyFacts, 'oldUntil'>): string {
  return oldUntil === null ? 'The old key works no more.' : `The old key works until ${oldUntil}.`
}
