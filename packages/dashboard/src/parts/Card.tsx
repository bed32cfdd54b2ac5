import { useId } from 'react'
import type { ReactNode } from 'react'

/** A part of a page, with its heading. */
export function Card(props: {
  readonly title?: string
  readonly lead?: ReactNode
  readonly aside?: ReactNode
  readonly children?: ReactNode
}) {
  const id = useId()
  return (
    <section className="card" aria-labelledby={props.title === undefined ? undefined : id}>
      <div className="card-body">
        {props.title !== undefined && (
          <div className="card-head">
            <div className="stack tight">
              <h2 id={id}>{props.title}</h2>
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
