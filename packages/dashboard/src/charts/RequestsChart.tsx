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
  /** The requests of each step of the period before, in the same order. @default not shown */
  readonly past?: readonly (number | null)[] | undefined
}) {
  const { series, toTitle, past, ...others } = props
  return (
    <Chart
      {...others}
      rows={[
        { title: 'Succeeded', look: 'area-good' },
        { title: 'Reverted', look: 'area-neutral' },
        { title: 'Failed or rejected', look: 'area-bad' },
        ...(past ? [{ title: 'Before', look: 'line-past' } as const] : []),
      ]}
      moments={series.map(({ at, succeeded, reverted, total }, index) => ({
        at: Date.parse(at),
        title: toTitle(at),
        values: [succeeded, reverted, total - succeeded - reverted, ...(past ? [past[index] ?? null] : [])],
      }))}
      text={shortText}
      exact={countText}
    />
  )
}
