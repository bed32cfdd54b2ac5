import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, Outlet } from '@tanstack/react-router'
import { isControlFailure } from '../../control/controlFailure.ts'
import { appQuery, usageQuery } from '../../control/queries.ts'
import { PageLinks } from '../../parts/PageLinks.tsx'
import { appPages } from '../../parts/pageTable.ts'
import { BrowserUse } from '../../parts/BrowserUse.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded, PageSkeleton } from '../../parts/Loaded.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { QuotaNote } from '../../parts/QuotaNote.tsx'
import { getQuotaState } from '../../parts/quotaState.ts'
import { AppBadge } from './AppBadge.tsx'
import { AppSwitcher } from './AppSwitcher.tsx'

const route = getRouteApi('/inside/apps/$appId')

/** The frame of an app's pages. */
export function AppFrame() {
  const { appId } = route.useParams()
  const query = useQuery({ ...appQuery(appId), refetchInterval: 30_000 })
  const usage = useQuery({ ...usageQuery(appId), refetchInterval: 10_000, enabled: query.data !== undefined })
  const quota = getQuotaState(usage.data)
  if (isControlFailure(query.error, 'not_found')) {
    return (
      <div className="page">
        <PageHead title="App not found" crumb={<Link to="/apps">Apps</Link>} />
        <Empty
          title="It may have been deleted"
          action={
            <Link to="/apps" className="button primary">
              To your apps
            </Link>
          }
        >
          <p>Calls with the key of a deleted app are rejected.</p>
        </Empty>
      </div>
    )
  }
  const params = { appId }
  return (
    <div className="page">
      <Loaded query={query} failedTitle="The app cannot be shown" shape={<PageSkeleton />}>
        {(app) => (
          <>
            <PageHead
              title={app.name}
              crumb={<Link to="/apps">Apps</Link>}
              lead={app.description || undefined}
              action={
                <div className="row">
                  <AppBadge app={app} isUsedUp={quota?.isUsedUp} />
                  <AppSwitcher app={app} />
                </div>
              }
            />
            <QuotaNote
              state={quota}
              of="this app"
              action={
                <Link to="/apps/$appId/settings/advanced" params={params}>
                  Limits
                </Link>
              }
            />
            <BrowserUse subject={params} />
            <PageLinks label="App" pages={appPages} params={params} />
            <Outlet />
          </>
        )}
      </Loaded>
    </div>
  )
}
