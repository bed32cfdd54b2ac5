import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ActivityLine } from '../charts/ActivityLine.tsx'
import { useActivity } from '../charts/useActivity.ts'
import { keysQuery, usageQuery } from '../control/queries.ts'
import { Card } from '../parts/Card.tsx'
import { Icon } from '../parts/Icon.tsx'
import { KeyBadge } from '../parts/KeyBadge.tsx'
import { useNetworks } from '../networks/useNetworks.ts'
import { Loaded, Skeleton } from '../parts/Loaded.tsx'
import { PageHead } from '../parts/PageHead.tsx'
import { QuotaNote } from '../parts/QuotaNote.tsx'
import { getQuotaState } from '../parts/quotaState.ts'
import { dayText, lastUsedText } from '../parts/times.ts'
import { UsageMeter } from '../parts/UsageMeter.tsx'
import { WeightsHint } from '../parts/WeightsHint.tsx'
import { NetworkLimits } from '../networks/NetworkLimits.tsx'

/** All API keys, each in one of the few slots of the account. */
export function Keys() {
  const query = useQuery(keysQuery)
  const { getTitle } = useNetworks()
  const getActivity = useActivity()
  const getLastUsed = (id: string): string => {
    const activity = getActivity(id)
    return activity === undefined ? '' : ` · ${lastUsedText(activity.lastUsedAt)}`
  }
  const usage = useQuery({ ...usageQuery(), refetchInterval: 10_000 })
  const quota = getQuotaState(usage.data)
  return (
    <div className="page">
      <PageHead
        title="API keys"
        lead="An API key gives you a URL on one network. All your keys share one daily limit."
        action={
          query.data && query.data.items.length < query.data.max ? (
            <Link to="/keys/new" className="button primary">
              <Icon name="plus" />
              Create API key
            </Link>
          ) : undefined
        }
      />
      <QuotaNote state={quota} of="all your API keys together" />
      <Loaded query={query} shape={<Skeleton lines={4} />}>
        {({ items, max }) => (
          <>
            <p role="status" className="soft">
              {items.length} of {max} API keys
              {items.length >= max && '. Revoke one to make room for another.'}
            </p>
            <ul className="slots">
              {items.map((key) => (
                <li key={key.id}>
                  <Link to="/keys/$keyId/setup" params={{ keyId: key.id }} className="card card-link">
                    <div className="row spread">
                      <h2>{key.name}</h2>
                      <div className="row">
                        <span className="badge">{getTitle(key.network)}</span>
                        <KeyBadge state={key.state} expiresAt={key.expiresAt} isUsedUp={quota?.isUsedUp} />
                      </div>
                    </div>
                    <p className="soft small break">
                      <code>{key.url}</code>
                    </p>
                    <ActivityLine activity={getActivity(key.id)} />
                    <p className="soft small break clamp">
                      {key.description ? `${key.description} · created` : 'Created'} {dayText(key.createdAt)}
                      {getLastUsed(key.id)}
                    </p>
                  </Link>
                </li>
              ))}
              {Array.from({ length: Math.max(0, max - items.length) }, (_, at) => (
                <li key={at} className="card slot free">
                  <span>
                    Slot {items.length + at + 1} of {max} is free
                  </span>
                  {at === 0 && <Link to="/keys/new">Create API key</Link>}
                </li>
              ))}
            </ul>
          </>
        )}
      </Loaded>
      <Loaded query={usage}>
        {({ day, weights, networks }) => (
          <Card title="Usage today" lead="All API keys together. Rejected calls do not count.">
            <UsageMeter period="day" usage={day} />
            <WeightsHint weights={weights} />
            <NetworkLimits networks={networks} />
          </Card>
        )}
      </Loaded>
    </div>
  )
}
