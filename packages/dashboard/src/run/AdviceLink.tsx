import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { KeySubject } from '../control/queries.ts'
import type { AdvicePage } from './getAdvice.ts'

/** Links to where a rejection can be fixed. */
export function AdviceLink({ page, subject }: { readonly page: AdvicePage; readonly subject: KeySubject }): ReactNode {
  if ('keyId' in subject) {
    return page === 'limits' ? (
      <Link to="/account">Usage</Link>
    ) : (
      <Link to="/keys/$keyId/settings" params={subject}>
        Settings
      </Link>
    )
  }
  switch (page) {
    case 'allowList':
      return (
        <Link to="/apps/$appId/settings/allow-list" params={subject}>
          Allow list
        </Link>
      )
    case 'jwtKeys':
      return (
        <Link to="/apps/$appId/settings/jwt-keys" params={subject}>
          JWT keys
        </Link>
      )
    case 'networks':
      return (
        <Link to="/apps/$appId/networks" params={subject}>
          Networks
        </Link>
      )
    case 'settings':
    case 'limits':
      return (
        <Link to="/apps/$appId/settings/advanced" params={subject}>
          Advanced configuration
        </Link>
      )
  }
}
