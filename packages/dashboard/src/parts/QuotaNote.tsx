import type { ReactNode } from 'react'
import { Note } from './Note.tsx'
import type { QuotaState } from './quotaState.ts'
import { countText, rateText, resetText } from './times.ts'

/** Says that a quota is used up, or nearly. Renders nothing otherwise. */
export function QuotaNote(props: {
  readonly state: QuotaState | undefined
  /** Whose requests count, such as `this app`. */
  readonly of: string
  readonly action?: ReactNode
}) {
  if (props.state === undefined) return null
  const { period, usage, isUsedUp } = props.state
  const limit = usage.limit ?? 0
  return (
    <Note kind={isUsedUp ? 'bad' : 'warn'} action={props.action}>
      {isUsedUp ? (
        <>
          The {period} quota of {props.of}, {countText(limit)} requests, is used up. Requests are rejected until{' '}
          {resetText(usage.resetAt)}.
        </>
      ) : (
        <>
          {rateText(Math.floor((usage.used / limit) * 100) / 100)} of the {period} quota of {props.of} is used:{' '}
          {countText(usage.used)} of {countText(limit)} requests. It resets {resetText(usage.resetAt)}.
        </>
      )}
    </Note>
  )
}
