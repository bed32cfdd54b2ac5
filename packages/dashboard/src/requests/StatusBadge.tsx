import type { ReactNode } from 'react'
import type { outcomeKind } from '../charts/outcomeKind.ts'

const looks = { good: 'badge good', neutral: 'badge', bad: 'badge warn' } as const

/** The HTTP status of a request, colored by its outcome. Only a status of an error is red: with 200, the HTTP request itself succeeded. */
export function StatusBadge(props: {
  readonly status: number
  readonly kind: ReturnType<typeof outcomeKind>
  readonly children?: ReactNode
}) {
  const { status, kind, children } = props
  return (
    <span className={status >= 400 ? 'badge bad' : looks[kind]}>
      {children}
      {status}
    </span>
  )
}
