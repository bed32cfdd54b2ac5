import type { KeyState } from '@keyrail/gateway'
import { dayText } from './times.ts'

const titles: Readonly<Record<KeyState, readonly [title: string, kind: string]>> = {
  active: ['Active', 'good'],
  rotated: ['Active, old key too', 'good'],
  expired: ['Expired', 'bad'],
  revoked: ['Revoked', 'bad'],
}

/** The state of a key. */
export function KeyBadge(props: {
  readonly state: KeyState
  readonly expiresAt?: string | null
  /** Whether its quota is used up, so that its requests are rejected. */
  readonly isUsedUp?: boolean | undefined
}) {
  const { state, expiresAt, isUsedUp } = props
  const [title, kind] = titles[state]
  if (isUsedUp && state !== 'expired' && state !== 'revoked') {
    return (
      <span className="badge bad">
        <span className="dot" aria-hidden="true" />
        Quota used up
      </span>
    )
  }
  const isEnding = state !== 'expired' && state !== 'revoked' && typeof expiresAt === 'string'
  return (
    <span className={`badge ${isEnding ? 'warn' : kind}`}>
      <span className="dot" aria-hidden="true" />
      {isEnding ? `Until ${dayText(expiresAt)}` : title}
    </span>
  )
}
