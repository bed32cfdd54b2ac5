import type { UsageView } from '@keyrail/gateway'
import { countText, resetText } from './times.ts'

type UsageWindow = UsageView['day']

/** How much of a limit is used, and when it begins anew. */
export function UsageMeter({ title, usage }: { readonly title: string; readonly usage: UsageWindow }) {
  const { used, limit, remaining, resetAt } = usage
  const part = limit === null || limit === 0 ? 0 : Math.min(1, used / limit)
  return (
    <div className="stack tight">
      <div className="row spread">
        <h3>{title}</h3>
        <p>
          <strong>{countText(used)}</strong> {limit === null ? 'used, without a limit' : `of ${countText(limit)}`}
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
          <rect className="track" width="100" height="8" />
          <rect className={part > 0.9 ? 'fill high' : 'fill'} width={part * 100} height="8" />
        </svg>
      )}
      <p className="hint">
        {remaining !== null && `${countText(remaining)} left. `}Begins anew {resetText(resetAt)}.
      </p>
    </div>
  )
}
