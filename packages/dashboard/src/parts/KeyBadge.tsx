import type { KeyState } from '@keyrail/gateway'
import { dayText } from './times.ts'

const titles: Readonly<Record<KeyState, readonly [title: string, kind: string]>> = {
  active: ['Active', 'good'],
  rotated: ['Active, old key too', 'good'],
  expired: ['Expired', 'bad'],
  revoked: ['Revoked', 'bad'],
}

/** How a key stands. */
export function KeyBadge({ state, expiresAt }: { readonly state: KeyState; readonly expiresAt?: string | null }) {
  const [title, kind] = titles[state]
  const isEnding = state !== 'expired' && state !== 'revoked' && typeof expiresAt === 'string'
  return (
    <span className={`badge ${isEnding ? 'warn' : kind}`}>
      <span className="dot" aria-hidden="true" />
      {isEnding ? `Until ${dayText(expiresAt)}` : title}
    </span>
  )
}
