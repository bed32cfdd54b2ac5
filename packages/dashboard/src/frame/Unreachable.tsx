import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { callApi } from '../control/callApi.ts'
import { useReachable } from '../control/reachable.ts'

/** Says that the service does not respond, retries, and reloads the page's data when it responds again. */
export function Unreachable() {
  const isReachable = useReachable()
  const queries = useQueryClient()
  useEffect(() => {
    if (isReachable) return undefined
    const ended = new AbortController()
    let timer: ReturnType<typeof setTimeout>
    const look = (): void => {
      clearTimeout(timer)
      callApi('GET /api/deployment', undefined, ended.signal).then(
        () => undefined,
        () => {
          if (!ended.signal.aborted) timer = setTimeout(look, 2_000)
        },
      )
    }
    timer = setTimeout(look, 2_000)
    addEventListener('online', look, { signal: ended.signal })
    return () => {
      clearTimeout(timer)
      ended.abort()
      void queries.invalidateQueries()
    }
  }, [isReachable, queries])
  return (
    <div role="alert">
      {!isReachable && <p className="banner">The service does not respond. This page may be out of date. Retrying…</p>}
    </div>
  )
}
