import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ApiKeyView } from '@keyrail/gateway'
import { callApi } from '../../control/callApi.ts'
import { keyQuery } from '../../control/queries.ts'
import { toConfirmBody } from '../../control/toConfirmBody.ts'
import { useNetworks } from '../../networks/useNetworks.ts'
import { useKeyHolder } from '../../snippet/useKeyHolder.ts'
import type { KeyHolder } from '../../snippet/useKeyHolder.ts'

const route = getRouteApi('/inside/keys/$keyId')

/** The API key of the page. The frame renders the page only once the key is loaded. */
export function useKey(): ApiKeyView {
  const { keyId } = route.useParams()
  return useSuspenseQuery(keyQuery(keyId)).data
}

/** The key itself. */
export function useKeyText({ id, network, ending, revealable }: ApiKeyView): KeyHolder {
  const { find } = useNetworks()
  return useKeyHolder({
    id,
    prefix: find(network)?.testnet ? 'kr_t' : 'kr_m',
    ending,
    revealable,
    reveal: (password) =>
      callApi('POST /api/keys/{keyId}/reveal', {
        params: { keyId: id },
        body: toConfirmBody(password),
      }),
  })
}
