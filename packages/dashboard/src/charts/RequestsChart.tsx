import type { MetricsView } from '@keyrail/gateway'
import { countText, shortText } from '../parts/times.ts'
import { Chart } from './Chart.tsx'

/** Requests over time, the reverted and the failed ones on top of the others. */
export function RequestsChart(props: {
  readonly series: MetricsView['series']
  /** Names a time of the series. */
  readonly toTitle: (at: string) => string
  readonly caption: string
  readonly summary: string
  readonly timeZone: 'UTC' | undefined
  readonly onZoom?: (from: number, to: number) => void
}) {
  const { series, toTitle, ...others } = props
  return (
    <Chart
      {...others}
      kind="bars"
      rows={[
        { title: 'Succeeded', look: 'area-good' },
        { title: 'Reverted', look: 'area-neutral' },
        { title: 'Failed or rejected', look: 'area-bad' },
      ]}
      moments={series.map(({ at, succeeded, reverted, total }) => ({
        at: Date.parse(at),
        title: toTitle(at),
        values: [succeeded, reverted, total - succeeded - reverted],
      }))}
      text={shortText}
      exact={countText}
    />
  )
}
