import { useQuery } from '@tanstack/react-query'
import type { ActivityItem } from '@keyrail/gateway'
import { useMemo } from 'react'
import { activityQuery } from '../control/queries.ts'

/** Returns a function that finds the activity of an app or API key; `undefined` until it is loaded. One request serves all of them. */
export function useActivity(): (id: string) => ActivityItem | undefined {
  const { data } = useQuery({ ...activityQuery, refetchInterval: 60_000 })
  return useMemo(() => {
    const byId = new Map(data?.items.map((item) => [item.id, item]))
    return (id) => byId.get(id)
  }, [data])
}
