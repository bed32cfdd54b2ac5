import type { InstanceView } from '@keyrail/gateway'
import { Chart } from '../../../charts/Chart.tsx'
import { outcomeTitle } from '../../../charts/outcomeTitle.ts'
import { Sparkline } from '../../../charts/Sparkline.tsx'
import { Card } from '../../../parts/Card.tsx'
import { clockText, countText, shortText } from '../../../parts/times.ts'

/** How many kinds of failures are named. */
const maxFailures = 4

const minuteMs = 60_000

/** Calls by second and by minute, and why some of them failed. */
export function Traffic({ instance }: { readonly instance: InstanceView }) {
  const { perSecond, perMinute, failures } = instance
  const { from, totals } = perMinute
  const total = totals.reduce((sum, calls) => sum + calls, 0)
  return (
    <Card title="Calls" lead="By minute in the last 2 hours, or since this instance started.">
      <Chart
        rows={[
          { title: 'Succeeded or reverted', look: 'area-good' },
          { title: 'Failed or rejected', look: 'area-bad' },
        ]}
        moments={totals.map((calls, index) => {
          const at = Date.parse(from) + index * minuteMs
          const failed = perMinute.failures[index] ?? 0
          return { at, title: clockText(new Date(at).toISOString()), values: [calls - failed, failed] }
        })}
        text={shortText}
        exact={countText}
        caption="Calls by minute"
        summary={`Calls by minute: ${countText(total)} in the last 2 hours, or since this instance started.`}
      />
      <div className="activity">
        <p className="small soft">
          By second in the last 2 minutes: at most {countText(Math.max(...perSecond.totals))}.
        </p>
        <Sparkline totals={perSecond.totals} failures={perSecond.failures} />
      </div>
      {failures.length > 0 && (
        <p className="small">
          Failed most often:{' '}
          {failures
            .slice(0, maxFailures)
            .map(({ outcome, total: calls }) => `${outcomeTitle(outcome)} (${countText(calls)})`)
            .join(', ')}
          .
        </p>
      )}
    </Card>
  )
}
