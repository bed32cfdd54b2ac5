import { useEffect } from 'react'
import { useDialogs } from '../parts/dialogs.ts'
import { useSubmit } from './useSubmit.ts'
import type { Submit, SubmitOptions } from './useSubmit.ts'

/** Like `useSubmit`, for an action without a place for its problem: a message says why it failed. */
export function useAction<T>(options: Pick<SubmitOptions<T>, 'send' | 'done'>): Submit {
  const { say } = useDialogs()
  const action = useSubmit(options)
  const { problem } = action
  useEffect(() => {
    if (problem !== undefined) say(problem)
  }, [problem, say])
  return action
}
