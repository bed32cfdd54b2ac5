import type { ReactNode } from 'react'

/** A sentence that matters, said aloud when it appears. */
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

/** Why a form did not work. Nothing where it did. */
export function Problem({ text }: { readonly text: string | undefined }) {
  return text === undefined ? null : <Note kind="bad">{text}</Note>
}
