import type { ReactNode } from 'react'

/** What stands where nothing is yet, and what to do about it. */
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
