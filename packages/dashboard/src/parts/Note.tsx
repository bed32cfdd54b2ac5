import type { ReactNode } from 'react'

/** An important message, which screen readers announce when it appears. */
export function Note(props: {
  readonly kind?: 'good' | 'warn' | 'bad'
  readonly children: ReactNode
  readonly action?: ReactNode
}) {
  return (
    <div className={`note ${props.kind ?? ''}`} role={props.kind === 'bad' ? 'alert' : 'status'}>
      <div>{props.children}</div>
      {props.action}
    </div>
  )
}

/** Why a form failed. Renders nothing if it did not. */
export function Problem({ text }: { readonly text: string | undefined }) {
  return text === undefined ? null : <Note kind="bad">{text}</Note>
}
