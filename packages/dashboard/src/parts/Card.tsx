import { useId } from 'react'
import type { ReactNode } from 'react'
import { HelpLink } from './HelpLink.tsx'

/** A part of a page, with its heading. */
export function Card(props: {
  /** For `focusHeading`. @default generated */
  readonly id?: string
  readonly title?: string
  readonly lead?: ReactNode
  readonly aside?: ReactNode
  /** The page of the documentation about it, as `HelpLink` takes it. */
  readonly help?: string
  readonly children?: ReactNode
}) {
  const generated = useId()
  const id = props.id === undefined ? generated : toHeadingId(props.id)
  return (
    <section className="card" aria-labelledby={props.title === undefined ? undefined : id}>
      <div className="card-body">
        {props.title !== undefined && (
          <div className="card-head">
            <div className="stack tight">
              <div className="card-title">
                <h2 id={id} tabIndex={props.id === undefined ? undefined : -1}>
                  {props.title}
                </h2>
                {props.help !== undefined && <HelpLink page={props.help} of={props.title} />}
              </div>
              {props.lead && <p>{props.lead}</p>}
            </div>
            {props.aside}
          </div>
        )}
        {props.children}
      </div>
    </section>
  )
}

const toHeadingId = (id: string): string => `card-${id}`

/** Moves the focus to a card's heading, once a dialog has closed and what had the focus before it is gone. */
export function focusHeading(id: string): void {
  requestAnimationFrame(() => document.getElementById(toHeadingId(id))?.focus())
}
