import type { TrafficView } from '@keyrail/gateway'
import { countText, errorRateText } from '../parts/times.ts'
import { Sparkline } from './Sparkline.tsx'

/** The requests of the last 24 hours and how many failed. Renders its place while `activity` is loading. */
export function ActivityLine({ activity }: { readonly activity: TrafficView | undefined }) {
  return (
    <div className="activity">
      {activity && (
        <>
          <p className="small">
            {activity.total === 0 ? (
              <span className="soft">No requests in 24 hours</span>
            ) : (
              <>
                <strong>{countText(activity.total)}</strong> {activity.total === 1 ? 'request' : 'requests'} in 24
                hours,{' '}
                <span className={activity.failed > 0 ? 'failed' : 'soft'}>
                  {errorRateText(activity.failed, activity.total)} errors
                </span>
              </>
            )}
          </p>
          <Sparkline totals={activity.totals} failures={activity.failures} />
        </>
      )}
    </div>
  )
}
