import { Link, useRouterState } from '@tanstack/react-router'
import { useLayoutEffect, useRef } from 'react'
import { useMay } from '../control/useMay.ts'
import type { PageLink } from './pageTable.ts'
import { toEdgeClasses, useOverflow } from './useOverflow.ts'

interface PageLinksProps {
  readonly label: string
  readonly pages: readonly PageLink[]
  /** The parameters of their paths. */
  readonly params?: Readonly<Record<string, string>>
}

/** Links to the pages of a frame that the user's role allows, as tabs. On a narrow screen they scroll, and the one of the open page is in view. */
export function PageLinks(props: PageLinksProps) {
  const ref = useRef<HTMLElement>(null)
  const overflow = useOverflow(ref)
  const isScrollable = overflow.before || overflow.after
  const place = useRouterState({ select: ({ location }) => location.pathname })
  useLayoutEffect(() => {
    const tabs = ref.current
    const current = tabs?.querySelector('[aria-current="page"]')
    if (!tabs || !current) return
    const [box, tab] = [tabs.getBoundingClientRect(), current.getBoundingClientRect()]
    tabs.scrollLeft += tab.left + tab.width / 2 - (box.left + box.width / 2)
  }, [place, isScrollable])
  return (
    <div className={toEdgeClasses(overflow)}>
      <nav className="tabs" aria-label={props.label} ref={ref}>
        <AllowedLinks {...props} />
      </nav>
    </div>
  )
}

/** The same, as a list beside the page. */
export function SideLinks(props: PageLinksProps) {
  return (
    <nav className="nav" aria-label={props.label}>
      <AllowedLinks {...props} />
    </nav>
  )
}

function AllowedLinks({ pages, params }: PageLinksProps) {
  const may = useMay()
  return pages.map(({ to, title, scope, isExact = false }) =>
    scope === undefined || may(scope) ? (
      <Link key={to} to={to} params={params ?? {}} activeOptions={{ exact: isExact }}>
        {title}
      </Link>
    ) : undefined,
  )
}
