import type { MetricsView } from '@keyrail/gateway'
import { countText } from '../parts/times.ts'

const list = new Intl.ListFormat('en', { type: 'conjunction' })

/** Outcomes of calls that passed the checks of the service. All others are rejections. */
const accepted: ReadonlySet<string> = new Set(['succeeded', 'reverted', 'nodeError', 'upstreamFailed', 'disconnected'])

const counted = (count: number, one: string, several: string): string =>
  `${countText(count)} ${count === 1 ? one : several}`

/** Explains why the limits charged another number than that of the requests; `undefined` if they charged the same. */
export function toChargeText({ total, charged }: Pick<MetricsView, 'total' | 'charged'>): string | undefined {
  const { units, free, weighted, notifications } = charged
  const addUp = (isRejected: boolean): number =>
    free.reduce((sum, one) => (accepted.has(one.outcome) === isRejected ? sum : sum + one.total), 0)
  const [rejected, unsent] = [addUp(true), addUp(false)]
  const reasons = [
    ...(rejected > 0
      ? [counted(rejected, 'was rejected before it reached a node', 'were rejected before they reached a node')]
      : []),
    ...(unsent > 0 ? [counted(unsent, 'was sent to no node', 'were sent to no node')] : []),
    ...(weighted > 0 ? [`methods that count as more than one request added ${countText(weighted)}`] : []),
    ...(notifications > 0 ? [`notifications of subscriptions added ${countText(notifications)}`] : []),
  ]
  if (reasons.length === 0) return undefined
  return `${counted(total, 'request', 'requests')}, ${countText(units)} charged to the limits: ${list.format(reasons)}.`
}
