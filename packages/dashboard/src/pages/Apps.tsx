import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { AppView } from '@keyrail/gateway'
import { useDeferredValue } from 'react'
import { ActivityLine } from '../charts/ActivityLine.tsx'
import { useActivity } from '../charts/useActivity.ts'
import { appsQuery, deploymentQuery } from '../control/queries.ts'
import { useSearchText } from '../control/useSearchText.ts'
import { NetworksDown } from '../networks/NetworksDown.tsx'
import { Button } from '../parts/Button.tsx'
import { Empty } from '../parts/Empty.tsx'
import { Icon } from '../parts/Icon.tsx'
import { Loaded, Skeleton } from '../parts/Loaded.tsx'
import { Needs } from '../parts/Needs.tsx'
import { PageHead } from '../parts/PageHead.tsx'
import { ShowMore } from '../parts/ShowMore.tsx'
import { TextField } from '../parts/TextField.tsx'
import { countText, dayText } from '../parts/times.ts'
import { toUseCaseTitle } from '../parts/toUseCaseTitle.ts'
import { AppBadge, needsAttention } from './app/AppBadge.tsx'

/** All apps, or those whose name contains the search text. */
export function Apps() {
  const [search, setSearch] = useSearchText()
  const deferredSearch = useDeferredValue(search.trim())
  const { data: deployment } = useQuery(deploymentQuery)
  const getChainTitles = (app: AppView): string => {
    const names = deployment?.networks.filter(({ network }) => app.networks.includes(network)).map(({ chain }) => chain)
    const shown = names?.length ? [...new Set(names)] : [app.chain]
    return shown.map((name) => deployment?.chains.find(({ chain }) => chain === name)?.title ?? name).join(', ')
  }
  const getActivity = useActivity()
  const query = useInfiniteQuery({ ...appsQuery(deferredSearch), placeholderData: keepPreviousData })
  const isFull = query.data?.pages[0]?.free === 0
  const create = (
    <Needs scope="apps:write">
      <Link to="/apps/new" className="button primary">
        <Icon name="plus" />
        Create app
      </Link>
    </Needs>
  )
  return (
    <div className="page">
      <PageHead
        title="Apps"
        lead="An app has one key, and a URL on each network. It has its own limits, allow list and tokens."
        action={isFull ? undefined : create}
      />
      <NetworksDown />
      <Loaded
        query={query}
        shape={
          <div className="grid">
            <Skeleton />
            <Skeleton />
            <Skeleton />
          </div>
        }
      >
        {({ pages }) => {
          const total = pages[0]?.total ?? 0
          const items = pages.flatMap((page) => page.items)
          if (total === 0 && deferredSearch === '' && search === '') {
            return (
              <Empty title="No apps yet" action={create}>
                <Needs scope="apps:write">
                  <p>Create one to get a working URL in less than a minute.</p>
                </Needs>
              </Empty>
            )
          }
          return (
            <>
              <div className="row spread">
                <div role="search">
                  <TextField
                    label="Find an app"
                    hidesLabel
                    placeholder="Find an app"
                    name="search"
                    type="search"
                    value={search}
                    onChange={setSearch}
                  />
                </div>
                <p className="soft small" role="status">
                  {deferredSearch === '' && deployment
                    ? `${countText(total)} of at most ${countText(deployment.limits.maxApps)} apps${isFull ? '. Delete one to make room. You can create another from midnight UTC.' : ''}`
                    : `${countText(total)} ${total === 1 ? 'app' : 'apps'}`}
                </p>
              </div>
              {items.length === 0 ? (
                <Empty title="No app name matches" action={<Button onClick={() => setSearch('')}>Show all</Button>} />
              ) : (
                <ul className="grid stack">
                  {items.map((app) => (
                    <li key={app.id}>
                      <Link to="/apps/$appId/setup" params={{ appId: app.id }} className="card card-link">
                        <div className="row spread">
                          <h2>{app.name}</h2>
                          {needsAttention(app) && <AppBadge app={app} />}
                        </div>
                        <p className="soft small clamp break">{app.description || 'No description'}</p>
                        <ActivityLine activity={getActivity(app.id)} />
                        <p className="soft small">
                          {toUseCaseTitle(app.useCase)} · {getChainTitles(app)} · created {dayText(app.createdAt)}
                        </p>
                      </Link>
                    </li>
                  ))}
                </ul>
              )}
              <ShowMore of={query} />
            </>
          )
        }}
      </Loaded>
    </div>
  )
}
