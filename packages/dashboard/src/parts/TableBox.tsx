import { useRef } from 'react'
import type { MouseEventHandler, ReactNode } from 'react'
import { toEdgeClasses, useOverflow } from './useOverflow.ts'

/** The box of a table that may be too wide: it scrolls, also by keyboard, and a shadow shows at which edge there is more. */
export function TableBox(props: {
  /** For screen readers. */
  readonly label: string
  readonly children: ReactNode
  readonly onClick?: MouseEventHandler<HTMLElement>
}) {
  const ref = useRef<HTMLDivElement>(null)
  const overflow = useOverflow(ref)
  const isScrollable = overflow.before || overflow.after
  return (
    <div className={toEdgeClasses(overflow)}>
      <div
        ref={ref}
        className="table-box"
        role="region"
        aria-label={props.label}
        tabIndex={isScrollable ? 0 : undefined}
        onClick={props.onClick}
      >
        {props.children}
      </div>
    </div>
  )
}
