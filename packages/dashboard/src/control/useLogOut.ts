import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { callApi } from './callApi.ts'
import { clearDrafts } from './drafts.ts'
import { changeSession } from './sessionChange.ts'
import { useAction } from './useAction.ts'
import type { Submit } from './useSubmit.ts'

/** Logs out, and opens the page to log in. */
export function useLogOut(): Submit {
  const queries = useQueryClient()
  const router = useRouter()
  return useAction({
    send: () => callApi('DELETE /api/session'),
    done: async () => {
      clearDrafts()
      changeSession(queries, { notifyTabs: true })
      await router.navigate({ to: '/log-in' })
    },
  })
}
