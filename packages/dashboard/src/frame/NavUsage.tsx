import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { UsageView } from '@keyrail/gateway'
import { usageQuery } from '../control/queries.ts'
import { getExhaustion } from '../parts/projection.ts'
import type { Period } from '../parts/projection.ts'
import { clockText, countText, dayText, rateText } from '../parts/times.ts'
import { MeterBar } from '../parts/UsageMeter.tsx'

interface Limited {
  readonly period: Period
  readonly usage: UsageView['day']
  readonly limit: number
}

/** Finds the limit of which the largest share is used. */
function findTightest({ day, month }: UsageView): Limited | undefined {
  const limited = [{ period: 'day', usage: day } as const, { period: 'month', usage: month } as const].flatMap(
    ({ period, usage }): Limited[] => (usage.limit === null ? [] : [{ period, usage, limit: usage.limit }]),
  )
  const getShare = ({ usage, limit }: Limited): number => usage.used / Math.max(1, limit)
  return limited.toSorted((one, other) => getShare(other) - getShare(one))[0]
}

/**
 * The usage of a quota in the navigation: of the app whose page is open, otherwise of all API keys. Renders nothing for API keys that nobody used this
 * month: 0 % would seem to be about apps too.
 */
export function NavUsage() {
  const { appId } = useParams({ strict: false })
  const { data } = useQuery({ ...usageQuery(appId), refetchInterval: 60_000, retry: false })
  if (data === undefined) return null
  if (appId === undefined && data.month.used === 0) return null
  const tightest = findTightest(data)
  const of = appId === undefined ? 'API keys, without apps' : 'This app'
  if (tightest === undefined) {
    return (
      <p className="nav-usage">
        {of}: {countText(data.day.used)} today, no limit
      </p>
    )
  }
  const { period, usage, limit } = tightest
  const toText = period === 'day' ? clockText : dayText
  const usedUpAt = getExhaustion(usage, period, Date.now())
  const share = (
    <>
      {of}: {rateText(Math.floor((usage.used / Math.max(1, limit)) * 100) / 100)} of the{' '}
      {period === 'day' ? 'daily' : 'monthly'} limit
    </>
  )
  return (
    <div className="nav-usage">
      {appId === undefined ? (
        <Link to="/account">{share}</Link>
      ) : (
        <Link to="/apps/$appId/settings/advanced" params={{ appId }}>
          {share}
        </Link>
      )}
      <svg className="meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <MeterBar used={usage.used} limit={limit} />
      </svg>
      {usedUpAt !== undefined && <p>At this pace, used up {toText(usedUpAt)}</p>}
      <p className="soft">Resets {toText(usage.resetAt)}</p>
    </div>
  )
}
