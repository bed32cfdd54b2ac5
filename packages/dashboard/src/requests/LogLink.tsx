import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { KeySubject } from '../control/queries.ts'
import type { RequestFilters } from '../control/searchParams.ts'

/** A link to the request log of an app or an API key. */
export function LogLink(props: {
  readonly subject: KeySubject
  readonly filters?: RequestFilters
  readonly children: ReactNode
}) {
  const { subject, filters = {}, children } = props
  return 'appId' in subject ? (
    <Link to="/apps/$appId/requests" params={subject} search={filters}>
      {children}
    </Link>
  ) : (
    <Link to="/keys/$keyId/requests" params={subject} search={filters}>
      {children}
    </Link>
  )
}
