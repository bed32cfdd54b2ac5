import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { callApi } from '../control/callApi.ts'
import { useReachable } from '../control/reachable.ts'

/** Says that the service does not answer, looks for it, and brings the page up to date when it does again. */
export function Unreachable() {
  const isReachable = useReachable()
  const queries = useQueryClient()
  useEffect(() => {
    if (isReachable) return undefined
    const look = (): void => {
      callApi('GET /api/deployment').then(
        () => queries.invalidateQueries(),
        () => undefined,
      )
    }
    const timer = setInterval(look, 2_000)
    addEventListener('online', look)
    return () => {
      clearInterval(timer)
      removeEventListener('online', look)
    }
  }, [isReachable, queries])
  return (
    <div role="alert">
      {!isReachable && (
        <p className="banner">The service does not answer. This page may be out of date; it is being asked again.</p>
      )}
    </div>
  )
}
