import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, Outlet } from '@tanstack/react-router'
import { isControlFailure } from '../../control/controlFailure.ts'
import { keyQuery, usageQuery } from '../../control/queries.ts'
import { PageLinks } from '../../parts/PageLinks.tsx'
import { keyPages } from '../../parts/pageTable.ts'
import { useNetworks } from '../../networks/useNetworks.ts'
import { BrowserUse } from '../../parts/BrowserUse.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { KeyBadge } from '../../parts/KeyBadge.tsx'
import { Loaded, PageSkeleton } from '../../parts/Loaded.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { QuotaNote } from '../../parts/QuotaNote.tsx'
import { getQuotaState } from '../../parts/quotaState.ts'

const route = getRouteApi('/inside/keys/$keyId')

/** The frame of an API key's pages. */
export function KeyFrame() {
  const { keyId } = route.useParams()
  const { getTitle } = useNetworks()
  const query = useQuery({ ...keyQuery(keyId), refetchInterval: 30_000 })
  const usage = useQuery({ ...usageQuery(), refetchInterval: 10_000 })
  const quota = getQuotaState(usage.data)
  if (isControlFailure(query.error, 'not_found')) {
    return (
      <div className="page">
        <PageHead title="API key not found" crumb={<Link to="/keys">Keys</Link>} />
        <Empty
          title="It may have been revoked"
          action={
            <Link to="/keys" className="button primary">
              To your keys
            </Link>
          }
        />
      </div>
    )
  }
  const params = { keyId }
  return (
    <div className="page">
      <Loaded query={query} failedTitle="The API key cannot be shown" shape={<PageSkeleton />}>
        {(key) => (
          <>
            <PageHead
              title={key.name}
              crumb={<Link to="/keys">Keys</Link>}
              lead={key.description || undefined}
              action={
                <div className="row">
                  <span className="badge">{getTitle(key.network)}</span>
                  <KeyBadge state={key.state} expiresAt={key.expiresAt} isUsedUp={quota?.isUsedUp} />
                </div>
              }
            />
            {key.state !== 'revoked' && <QuotaNote state={quota} of="all your API keys together" />}
            {key.state !== 'revoked' && <BrowserUse subject={params} />}
            <PageLinks label="API key" pages={keyPages} params={params} />
            <Outlet />
          </>
        )}
      </Loaded>
    </div>
  )
}
