import { Link } from '@tanstack/react-router'
import { useMay } from '../control/useMay.ts'
import type { PageLink } from './pageTable.ts'

/** Links to the pages of a frame that the user's role allows. */
export function PageLinks(props: {
  readonly label: string
  readonly pages: readonly PageLink[]
  /** The parameters of their paths. */
  readonly params?: Readonly<Record<string, string>>
  /** @default tabs */
  readonly look?: 'nav'
}) {
  const may = useMay()
  return (
    <nav className={props.look ?? 'tabs'} aria-label={props.label}>
      {props.pages.map(({ to, title, scope, isExact = false }) =>
        scope === undefined || may(scope) ? (
          <Link key={to} to={to} params={props.params ?? {}} activeOptions={{ exact: isExact }}>
            {title}
          </Link>
        ) : undefined,
      )}
    </nav>
  )
}
