import { useEffect, useRef } from 'react'
import type { ReactNode } from 'react'
import { HelpLink } from './HelpLink.tsx'
import { useHelpPage } from './helpPages.ts'

// When the pages are opened, the focus stays at the top, where the link past the menu is.
let isOpened = false

/** The heading of a page. It sets the window's title, and takes the focus after a navigation, so that it is read out. */
export function PageHead(props: {
  readonly title: string
  /** The title of the window, if the heading alone is unclear. */
  readonly windowTitle?: string
  readonly lead?: ReactNode
  readonly crumb?: ReactNode
  readonly action?: ReactNode
}) {
  const ref = useRef<HTMLHeadingElement>(null)
  const { title, windowTitle = title } = props
  const help = useHelpPage()
  useEffect(() => {
    document.title = `${windowTitle} · Keyrail`
  }, [windowTitle])
  useEffect(() => {
    const { activeElement } = document
    // Not if the page has focused a field.
    const isFree = activeElement === document.body || activeElement?.tagName === 'A'
    if (isOpened && isFree) ref.current?.focus({ preventScroll: true })
    isOpened = true
  }, [])
  return (
    <div className="page-head">
      <div>
        {props.crumb && <div className="crumb">{props.crumb}</div>}
        <div className="page-title">
          <h1 tabIndex={-1} ref={ref}>
            {title}
          </h1>
          {help && <HelpLink {...help} />}
        </div>
        {props.lead && <p className="lead">{props.lead}</p>}
      </div>
      {props.action}
    </div>
  )
}
