import { useQueryClient } from '@tanstack/react-query'
import type { AppView } from '@keyrail/gateway'
import { callApi } from '../../control/callApi.ts'
import { appQuery } from '../../control/queries.ts'
import { refreshOnConflict } from '../../control/refreshOnConflict.ts'
import { KeyCard } from '../../parts/KeyCard.tsx'
import { useDeployment } from './useApp.ts'

/** An app's key: its expiry and its rotation. */
export function AppKeyCard({ app }: { readonly app: AppView }) {
  const queries = useQueryClient()
  const deployment = useDeployment()
  const params = { appId: app.id }
  const show = (changed: AppView): void => {
    queries.setQueryData(appQuery(app.id).queryKey, changed)
    void queries.invalidateQueries({ queryKey: ['apps'] })
  }
  return (
    <KeyCard
      id={app.key.id}
      subject={{ appId: app.id }}
      needs="apps:write"
      facts={app.key}
      maxGraceDays={deployment?.limits.maxGraceDays ?? 0}
      setExpiry={async (expiresAt) =>
        show(
          await refreshOnConflict(queries, ['app', app.id], () =>
            callApi('PUT /api/apps/{appId}/key/expiry', { params, body: { version: app.version, expiresAt } }),
          ),
        )
      }
      rotate={async (graceDays) => {
        const rotated = await callApi('POST /api/apps/{appId}/key/rotate', { params, body: { graceDays } })
        show(rotated.app)
        void queries.invalidateQueries({ queryKey: ['key-traffic'] })
        return { id: app.id, apiKey: rotated.apiKey, revealable: rotated.app.key.revealable }
      }}
      endOld={async () => show(await callApi('DELETE /api/apps/{appId}/key/old', { params }))}
    />
  )
}
