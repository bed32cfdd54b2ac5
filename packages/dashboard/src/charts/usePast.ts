import { useQuery } from '@tanstack/react-query'
import type { MetricsQuery, MetricsView } from '@keyrail/gateway'
import { metricsQuery } from '../control/queries.ts'
import type { Subject } from '../control/queries.ts'
import { comparePast } from './comparePast.ts'
import type { Past } from './comparePast.ts'

/**
 * Loads the metrics of the period before and compares them.
 * @param options.current - The metrics of the current period.
 * @param options.query - What they were loaded with.
 * @returns `undefined` until they are loaded, and while it is off.
 */
export function usePast(
  subject: Subject,
  options: {
    readonly current: MetricsView | undefined
    readonly query: MetricsQuery
    readonly isOn: boolean
  },
): Past | undefined {
  const { current, isOn } = options
  const { range: _, from: _from, to: _to, ...filters } = options.query
  const start = current === undefined ? 0 : Date.parse(current.from)
  const lengthMs = current === undefined ? 0 : Date.parse(current.to) - start
  const from = new Date(start - lengthMs).toISOString()
  const kind = JSON.stringify([subject, filters, lengthMs])
  const { data: past } = useQuery({
    ...metricsQuery(subject, { ...filters, from, to: new Date(start).toISOString() }),
    enabled: isOn && current !== undefined,
    staleTime: 60_000,
    meta: { kind },
    // When the minute changes, the comparison stays until the next one is loaded. That of another range or filter does not.
    placeholderData: (before, query) => (query?.meta?.['kind'] === kind ? before : undefined),
  })
  if (!isOn || current === undefined || past === undefined) return undefined
  return comparePast(current, past, { isRunning: Date.parse(current.to) > Date.now() })
}
