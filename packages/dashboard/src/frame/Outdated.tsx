import { useQueryClient } from '@tanstack/react-query'
import type { Query } from '@tanstack/react-query'
import { useCallback, useSyncExternalStore } from 'react'
import { isControlFailure } from '../control/controlFailure.ts'
import { Button } from '../parts/Button.tsx'

/** Whether a query shows old data because the service fails to load it again. */
const isOutdated = ({ state: { data, error } }: Query): boolean =>
  data !== undefined && isControlFailure(error) && error.status >= 500

const filter = { type: 'active', predicate: isOutdated } as const

/** Warns that the page shows data that the service failed to load again, and loads it again on a click. Renders nothing otherwise. */
export function Outdated() {
  const queries = useQueryClient()
  const cache = queries.getQueryCache()
  const isShown = useSyncExternalStore(
    useCallback((listener) => cache.subscribe(listener), [cache]),
    () => cache.findAll(filter).length > 0,
  )
  return (
    <div role="alert">
      {isShown && (
        <div className="banner">
          The service failed to update this page, so a part of it may be out of date.{' '}
          <Button size="little" onClick={() => void queries.refetchQueries(filter)}>
            Try again
          </Button>
        </div>
      )}
    </div>
  )
}
