import { useState } from 'react'
import type { ReactNode } from 'react'

/** Fields that have defaults, folded until the user opens them or one of them has a problem. */
export function Fold(props: {
  readonly title: string
  /** The values, in a few words, while it is closed. */
  readonly values?: string
  /** Whether a field in it has a problem. */
  readonly hasProblem: boolean
  readonly children: ReactNode
}) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details
      className="fold"
      open={isOpen || props.hasProblem}
      // A section that a problem has opened stays open.
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        {props.title}
        {!isOpen && props.values && <span className="hint"> {props.values}</span>}
      </summary>
      <div className="stack">{props.children}</div>
    </details>
  )
}
