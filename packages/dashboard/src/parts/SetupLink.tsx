import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { KeySubject } from '../control/queries.ts'

/** A button that leads to the Setup page of an app or an API key. */
export function SetupLink({ subject, children }: { readonly subject: KeySubject; readonly children: ReactNode }) {
  return 'appId' in subject ? (
    <Link to="/apps/$appId/setup" params={subject} className="button primary">
      {children}
    </Link>
  ) : (
    <Link to="/keys/$keyId/setup" params={subject} className="button primary">
      {children}
    </Link>
  )
}
