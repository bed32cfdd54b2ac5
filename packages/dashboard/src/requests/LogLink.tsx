import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { KeySubject } from '../control/queries.ts'
import type { RequestsSearch } from '../control/searchParams.ts'

/** A link to the request log of an app or an API key. */
export function LogLink(props: {
  readonly subject: KeySubject
  readonly search?: RequestsSearch
  readonly children: ReactNode
}) {
  const { subject, search = {}, children } = props
  return 'appId' in subject ? (
    <Link to="/apps/$appId/requests" params={subject} search={search}>
      {children}
    </Link>
  ) : (
    <Link to="/keys/$keyId/requests" params={subject} search={search}>
      {children}
    </Link>
  )
}
