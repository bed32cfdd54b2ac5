import { useQueryClient } from '@tanstack/react-query'
import type { AppView, ControlApi } from '@keyrail/gateway'
import { callApi } from '../../control/callApi.ts'
import { appQuery } from '../../control/queries.ts'
import { refreshOnConflict } from '../../control/refreshOnConflict.ts'

type Change = Omit<ControlApi['PATCH /api/apps/{appId}']['body'], 'version'>

/** Changes an app as it is shown. If it has changed elsewhere, loads the latest version and throws. */
export function useAppChange(app: AppView): (change: Change) => Promise<AppView> {
  const queries = useQueryClient()
  return async (change) => {
    if (Object.keys(change).length === 0) return app
    const changed = await refreshOnConflict(queries, ['app', app.id], () =>
      callApi('PATCH /api/apps/{appId}', {
        params: { appId: app.id },
        body: { version: app.version, ...change },
      }),
    )
    queries.setQueryData(appQuery(app.id).queryKey, changed)
    void queries.invalidateQueries({ queryKey: ['apps'] })
    return changed
  }
}
