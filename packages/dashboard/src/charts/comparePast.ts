import type { MetricsView } from '@keyrail/gateway'
import { momentText, utcDayText } from '../parts/times.ts'

type Point = MetricsView['series'][number]
type Compared = Pick<
  MetricsView,
  'from' | 'to' | 'step' | 'series' | 'total' | 'successRate' | 'latencyMs' | 'countedFrom'
>

/** What the period before says about the current one. */
export interface Past {
  /** Its steps, in the order of the current ones; `undefined` where nothing was counted yet. Missing if there is none to show. */
  readonly series?: readonly (Point | undefined)[]
  /** How the figures have changed. Missing if the periods cannot be compared. */
  readonly changes?: {
    readonly total: string
    readonly successRate: string | undefined
    readonly p50: string | undefined
    readonly p95: string | undefined
  }
  /** What was compared, or why it cannot be. */
  readonly note: string
}

const percent = new Intl.NumberFormat(undefined, {
  style: 'percent',
  maximumFractionDigits: 1,
  signDisplay: 'exceptZero',
})
const points = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2, signDisplay: 'exceptZero' })

const toChange = (now: number, before: number): string =>
  before === 0 ? (now === 0 ? 'no change' : 'none before') : `${percent.format(now / before - 1)} against before`

const toChangeOrNone = (now: number | null, before: number | null): string | undefined =>
  now === null || before === null ? undefined : toChange(now, before)

const stepsMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const

/**
 * Compares the metrics of a period with those of the one before.
 * @param options.isRunning - Whether the last step of the current period is not over.
 */
export function comparePast(current: Compared, past: Compared, { isRunning }: { readonly isRunning: boolean }): Past {
  const format = current.step === 'day' ? (time: string) => `${utcDayText(time)} (UTC)` : momentText
  if (past.countedFrom >= past.to)
    return { note: `There is no previous period: requests are counted from ${format(past.countedFrom)} on.` }
  if (past.step !== current.step || past.series.length !== current.series.length)
    return { note: `The previous period cannot be compared: the service stores it by ${past.step} only.` }
  const series = past.series.map((one) =>
    Date.parse(one.at) + stepsMs[past.step] > Date.parse(past.countedFrom) ? one : undefined,
  )
  if (past.countedFrom > past.from)
    return {
      series,
      note: `The totals cannot be compared: requests are counted from ${format(past.countedFrom)} on, within the previous period.`,
    }
  const { successRate, latencyMs } = past
  return {
    series,
    changes: {
      total: toChange(current.total, past.total),
      successRate:
        current.successRate === null || successRate === null
          ? undefined
          : `${points.format((current.successRate - successRate) * 100)} points against before`,
      p50: toChangeOrNone(current.latencyMs.p50, latencyMs.p50),
      p95: toChangeOrNone(current.latencyMs.p95, latencyMs.p95),
    },
    note: `Compared with ${format(past.from)} to ${format(past.to)}.${isRunning ? ` The current ${current.step} is not over yet.` : ''}`,
  }
}
