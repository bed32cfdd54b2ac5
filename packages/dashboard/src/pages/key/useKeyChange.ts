import { useQueryClient } from '@tanstack/react-query'
import type { ApiKeyView, ControlApi } from '@keyrail/gateway'
import { callApi } from '../../control/callApi.ts'
import { keyQuery } from '../../control/queries.ts'
import { refreshOnConflict } from '../../control/refreshOnConflict.ts'

type Change = Omit<ControlApi['PATCH /api/keys/{keyId}']['body'], 'version'>

/** Changes an API key as it is shown. If it has changed elsewhere, loads the latest version and throws. */
export function useKeyChange(key: ApiKeyView): (change: Change) => Promise<ApiKeyView> {
  const queries = useQueryClient()
  return async (change) => {
    if (Object.keys(change).length === 0) return key
    const changed = await refreshOnConflict(queries, ['key', key.id], () =>
      callApi('PATCH /api/keys/{keyId}', { params: { keyId: key.id }, body: { version: key.version, ...change } }),
    )
    queries.setQueryData(keyQuery(key.id).queryKey, changed)
    void queries.invalidateQueries({ queryKey: ['keys'] })
    return changed
  }
}
