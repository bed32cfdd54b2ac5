import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { AppView, DeploymentView } from '@keyrail/gateway'
import { callApi } from '../../control/callApi.ts'
import { appQuery, deploymentQuery } from '../../control/queries.ts'
import { toConfirmBody } from '../../control/toConfirmBody.ts'
import { useKeyHolder } from '../../snippet/useKeyHolder.ts'
import type { KeyHolder } from '../../snippet/useKeyHolder.ts'

const route = getRouteApi('/inside/apps/$appId')

/** The app of the page. The frame renders the page only once the app is loaded. */
export function useApp(): AppView {
  const { appId } = route.useParams()
  return useSuspenseQuery(appQuery(appId)).data
}

/** The deployment, once it is loaded. */
export const useDeployment = (): DeploymentView | undefined => useQuery(deploymentQuery).data

/** The app's key. */
export function useAppKey({ id, key }: AppView): KeyHolder {
  return useKeyHolder({
    id,
    prefix: 'kr_a',
    ending: key.ending,
    revealable: key.revealable,
    reveal: (password) =>
      callApi('POST /api/apps/{appId}/key/reveal', {
        params: { appId: id },
        body: toConfirmBody(password),
      }),
  })
}
