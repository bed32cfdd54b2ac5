import type { ReactNode } from 'react'

/** The placeholder of an empty list, with what to do next. */
export function Empty(props: { readonly title: string; readonly children?: ReactNode; readonly action?: ReactNode }) {
  return (
    <div className="card">
      <div className="empty">
        <h2>{props.title}</h2>
        {props.children}
        {props.action}
      </div>
    </div>
  )
}
