import type { MouseEvent, ReactNode } from 'react'

/** A button. While it is busy, it can still have the focus, but does nothing. */
export function Button(props: {
  readonly children: ReactNode
  readonly kind?: 'primary' | 'danger' | 'dangerPrimary' | 'plain' | undefined
  readonly size?: 'little'
  readonly type?: 'submit'
  readonly busy?: boolean | undefined
  readonly onClick?: (event: MouseEvent<HTMLButtonElement>) => void
  readonly label?: string | undefined
  readonly expanded?: boolean
  readonly controls?: string
  readonly className?: string
}) {
  const { kind, size, busy = false } = props
  const look = kind === 'dangerPrimary' ? 'danger primary' : (kind ?? '')
  return (
    <button
      type={props.type ?? 'button'}
      className={['button', look, size ?? '', props.className ?? ''].filter(Boolean).join(' ')}
      aria-disabled={busy || undefined}
      aria-label={props.label}
      aria-expanded={props.expanded}
      aria-controls={props.controls}
      onClick={(event) => {
        if (busy) event.preventDefault()
        else props.onClick?.(event)
      }}
    >
      {props.children}
    </button>
  )
}
