import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ApiKeyView, AppView, TrafficView } from '@keyrail/gateway'
import type { ReactNode } from 'react'
import { ActivityLine } from '../charts/ActivityLine.tsx'
import { useActivity } from '../charts/useActivity.ts'
import { appsQuery, keysQuery, usageQuery } from '../control/queries.ts'
import { Card } from '../parts/Card.tsx'
import { Empty } from '../parts/Empty.tsx'
import { Icon } from '../parts/Icon.tsx'
import { KeyBadge } from '../parts/KeyBadge.tsx'
import { NetworkLimits } from '../networks/NetworkLimits.tsx'
import { useNetworks } from '../networks/useNetworks.ts'
import { Loaded, Skeleton } from '../parts/Loaded.tsx'
import { Needs } from '../parts/Needs.tsx'
import { PageHead } from '../parts/PageHead.tsx'
import { QuotaNote } from '../parts/QuotaNote.tsx'
import { getQuotaState } from '../parts/quotaState.ts'
import { ShowMore } from '../parts/ShowMore.tsx'
import { lastUsedText } from '../parts/times.ts'
import { UsageMeter } from '../parts/UsageMeter.tsx'
import { WeightsHint } from '../parts/WeightsHint.tsx'
import { AppBadge, needsAttention } from './app/AppBadge.tsx'
import { TableBox } from '../parts/TableBox.tsx'
import { TableHead } from '../parts/TableHead.tsx'

/** Every key of the account with what it is for: the API keys, and the key of each app. */
export function Keys() {
  const apiKeys = useQuery(keysQuery)
  const apps = useInfiniteQuery(appsQuery(''))
  const usage = useQuery({ ...usageQuery(), refetchInterval: 10_000 })
  const quota = getQuotaState(usage.data)
  const create = (
    <Needs scope="keys:write">
      <Link to="/keys/new" className="button primary">
        <Icon name="plus" />
        Create API key
      </Link>
    </Needs>
  )
  return (
    <div className="page">
      <PageHead
        title="Keys"
        lead="Each app has one key, for all its networks and with its own limits. An API key is for one network, and all API keys share their limits."
        action={apiKeys.data && apiKeys.data.items.length < apiKeys.data.max ? create : undefined}
      />
      <QuotaNote state={quota} of="all your API keys together" />
      <Loaded query={apiKeys} shape={<Skeleton lines={4} />}>
        {({ items, max }) => (
          <Loaded query={apps} shape={<Skeleton lines={4} />}>
            {({ pages }) => (
              <>
                <p role="status" className="soft">
                  {items.length} of {max} API keys
                  {items.length >= max && '. Revoke one to make room for another.'}
                </p>
                <KeyTable
                  apiKeys={items}
                  apps={pages.flatMap((page) => page.items)}
                  areApiKeysUsedUp={quota?.isUsedUp}
                />
                <ShowMore of={apps} />
                {items.length > 0 && (
                  <Loaded query={usage}>
                    {({ day, weights, networks }) => (
                      <Card
                        title="Daily limit of API keys"
                        lead="All API keys together. Apps have limits of their own, in their settings. Rejected calls do not count."
                      >
                        <UsageMeter of="All API keys" period="day" usage={day} />
                        <WeightsHint weights={weights} />
                        <NetworkLimits networks={networks} />
                      </Card>
                    )}
                  </Loaded>
                )}
              </>
            )}
          </Loaded>
        )}
      </Loaded>
    </div>
  )
}

function KeyTable(props: {
  readonly apiKeys: readonly ApiKeyView[]
  readonly apps: readonly AppView[]
  readonly areApiKeysUsedUp: boolean | undefined
}) {
  const getActivity = useActivity()
  const { apiKeys, apps } = props
  if (apiKeys.length + apps.length === 0) {
    return (
      <Empty
        title="No keys yet"
        action={
          <Needs scope="apps:write">
            <Link to="/apps/new" className="button primary">
              Create app
            </Link>
          </Needs>
        }
      >
        <p>An app comes with a key.</p>
      </Empty>
    )
  }
  return (
    <Card>
      <TableBox label="Table of keys">
        <table className="table cards">
          <TableHead titles={['For', 'Key', 'Networks', 'Use', 'State']} />
          <tbody>
            {apiKeys.map((key) => (
              <Row
                key={key.id}
                name={
                  <Link to="/keys/$keyId/setup" params={{ keyId: key.id }}>
                    {key.name}
                  </Link>
                }
                kind="API key"
                ending={key.ending}
                networks={[key.network]}
                activity={getActivity(key.id)}
                state={<KeyBadge state={key.state} expiresAt={key.expiresAt} isUsedUp={props.areApiKeysUsedUp} />}
              />
            ))}
            {apps.map((app) => (
              <Row
                key={app.id}
                name={
                  <Link to="/apps/$appId/setup" params={{ appId: app.id }}>
                    {app.name}
                  </Link>
                }
                kind="App"
                ending={app.key.ending}
                networks={app.networks}
                activity={getActivity(app.id)}
                state={needsAttention(app) ? <AppBadge app={app} /> : <span className="soft">Enabled</span>}
              />
            ))}
          </tbody>
        </table>
      </TableBox>
    </Card>
  )
}

/** Most networks whose titles a row shows. */
const maxTitles = 3

function Row(props: {
  readonly name: ReactNode
  readonly kind: 'App' | 'API key'
  readonly ending: string
  readonly networks: readonly string[]
  readonly activity: TrafficView | undefined
  readonly state: ReactNode
}) {
  const { getTitle } = useNetworks()
  const { kind, ending, networks, activity } = props
  const others = networks.length - maxTitles
  return (
    <tr>
      <th scope="row" className="break">
        {props.name}
        <p className="hint">{kind}</p>
      </th>
      <td data-label="Key">
        <code>…{ending}</code>
      </td>
      <td data-label="Networks">
        {networks.length === 0 ? 'None' : networks.slice(0, maxTitles).map(getTitle).join(', ')}
        {others > 0 && ` and ${others} more`}
      </td>
      <td data-label="Use">
        <ActivityLine activity={activity} />
        {activity && <p className="hint">{lastUsedText(activity.lastUsedAt)}</p>}
      </td>
      <td data-label="State">{props.state}</td>
    </tr>
  )
}
