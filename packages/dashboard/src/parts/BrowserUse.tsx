import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { originsQuery } from '../control/queries.ts'
import type { KeySubject } from '../control/queries.ts'
import { isLocalOrigin } from './isLocalOrigin.ts'
import { Needs } from './Needs.tsx'
import { Note } from './Note.tsx'
import { countText } from './times.ts'

/** Points out a key that websites use although no allow list limits it to origins: everyone who opens the website can copy it. */
export function BrowserUse({ subject }: { readonly subject: KeySubject }) {
  const { data } = useQuery(originsQuery(subject))
  const found = data?.items.filter(({ origin }) => !isLocalOrigin(origin)) ?? []
  const [first, ...more] = found
  if (data === undefined || data.isLimited || first === undefined) return null
  const others = more.length === 0 ? '' : ` and ${countText(more.length)} more`
  return (
    <Note
      kind="warn"
      action={
        'appId' in subject ? (
          <Link to="/apps/$appId/settings/allow-list" params={subject}>
            Allow list
          </Link>
        ) : (
          <Needs scope="apps:write">
            <Link to="/apps/new">Create an app</Link>
          </Needs>
        )
      }
    >
      Websites sent requests with this key in the last 24 hours: {first.origin}
      {others}. Everyone who opens them can copy the key and use up your quota.{' '}
      {'appId' in subject ? 'Allow only your own origins.' : 'The key of an app can be limited to your origins.'}
    </Note>
  )
}
