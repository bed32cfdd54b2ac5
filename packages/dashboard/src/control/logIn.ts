import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { SessionView } from '@keyrail/gateway'
import { isControlFailure } from './controlFailure.ts'
import { sessionQuery } from './queries.ts'
import { changeSession } from './sessionChange.ts'

/** A new session, or that the log-in needs a second factor. */
export type StartedLogIn = SessionView | 'needsSecondFactor'

/** Sends a log-in. */
export const sendLogIn = (request: Promise<SessionView>): Promise<StartedLogIn> =>
  request.catch((error: unknown) => {
    if (!isControlFailure(error, 'second_factor_required')) throw error
    return 'needsSecondFactor'
  })

/** Opens a page after a log-in, or the one for the second factor first. */
export function useOpenAfterLogIn(): (started: StartedLogIn, back?: string) => void {
  const router = useRouter()
  const queries = useQueryClient()
  return useCallback(
    (started, back) => {
      if (started === 'needsSecondFactor') {
        const search = back === undefined ? {} : { back }
        void router.navigate({ to: '/log-in/second-factor', search, replace: true })
        return
      }
      changeSession(queries, { notifyTabs: true })
      queries.setQueryData(sessionQuery.queryKey, started)
      router.history.replace(back ?? '/')
    },
    [queries, router],
  )
}
