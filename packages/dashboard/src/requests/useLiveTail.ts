import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useIsLate } from '../charts/LiveBadge.tsx'
import { loadRequests, requestsQuery } from '../control/queries.ts'
import type { KeySubject } from '../control/queries.ts'
import { useReachable } from '../control/reachable.ts'
import type { RequestFilters } from '../control/searchParams.ts'
import { getTailStart, mergeTail } from './mergeTail.ts'

/** How often new requests are loaded, in milliseconds. */
const intervalMs = 2_000

/**
 * Adds new requests to the request log while the page is visible.
 * @param options.isActive - Whether to load any: the log is loaded, and not paused.
 */
export function useLiveTail(
  subject: KeySubject,
  filters: RequestFilters,
  options: { readonly isActive: boolean },
): { readonly isLive: boolean; readonly updatedAt: number } {
  const queries = useQueryClient()
  const isReachable = useReachable()
  const tail = useQuery({
    queryKey: ['requests', 'tail', subject, filters],
    queryFn: async ({ signal }) => {
      const { queryKey } = requestsQuery(subject, filters)
      const loaded = queries.getQueryData(queryKey)
      if (loaded === undefined) return 0
      const start = getTailStart(loaded)
      const page = await loadRequests(subject, filters, { signal, ...(start !== undefined && { after: start }) })
      queries.setQueryData(queryKey, (latest) => latest && mergeTail(latest, page, start))
      return page.items.length
    },
    enabled: options.isActive,
    refetchInterval: intervalMs,
  })
  const isLate = useIsLate(tail.dataUpdatedAt, intervalMs + 5_000)
  return { isLive: isReachable && tail.isSuccess && !isLate, updatedAt: tail.dataUpdatedAt }
}
