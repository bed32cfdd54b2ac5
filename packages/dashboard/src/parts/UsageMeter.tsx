import type { UsageView } from '@keyrail/gateway'
import { getExhaustion } from './projection.ts'
import type { Period } from './projection.ts'
import { countText, momentText, resetText } from './times.ts'

const periods: Readonly<Record<Period, string>> = { day: 'today (UTC)', month: 'this month (UTC)' }

/** The usage of a limit, when it resets, and when it is used up at the present pace. */
export function UsageMeter({
  of,
  period,
  usage,
}: {
  /** Whose requests it counts: `This app`, or `All API keys`. */
  readonly of: string
  readonly period: Period
  readonly usage: UsageView['day']
}) {
  const { used, limit, remaining, resetAt } = usage
  const title = `${of}, ${periods[period]}`
  const usedUpAt = getExhaustion(usage, period, Date.now())
  return (
    <div className="stack tight">
      <div className="row spread">
        <h3>{title}</h3>
        <p>
          <strong>{countText(used)}</strong> {limit === null ? 'used, no limit' : `of ${countText(limit)}`}
        </p>
      </div>
      {limit !== null && (
        <svg
          className="meter"
          viewBox="0 0 100 8"
          preserveAspectRatio="none"
          role="meter"
          aria-label={`${title}: used`}
          aria-valuemin={0}
          aria-valuemax={limit}
          aria-valuenow={Math.min(used, limit)}
        >
          <MeterBar used={used} limit={limit} />
        </svg>
      )}
      <p className="hint">
        {remaining !== null && `${countText(remaining)} left. `}Resets {resetText(resetAt)}.
      </p>
      {usedUpAt !== undefined && <p className="hint">At this pace, used up {momentText(usedUpAt)}.</p>}
    </div>
  )
}

/** The bar of a meter, 100 wide and 8 high. */
export function MeterBar({ used, limit }: { readonly used: number; readonly limit: number }) {
  const part = limit === 0 ? 0 : Math.min(1, used / limit)
  return (
    <>
      <rect className="track" width="100" height="8" />
      <rect className={part > 0.9 ? 'fill high' : 'fill'} width={part * 100} height="8" />
    </>
  )
}
