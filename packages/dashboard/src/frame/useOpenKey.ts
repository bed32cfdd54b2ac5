import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { callApi } from '../control/callApi.ts'
import { appQuery, deploymentQuery, keyQuery } from '../control/queries.ts'
import { toConfirmBody } from '../control/toConfirmBody.ts'
import type { NetworkView } from '../networks/searchNetworks.ts'
import { getUrl } from '../snippet/endpointUrls.ts'
import { canShowKey, useKeyHolder } from '../snippet/useKeyHolder.ts'

/** The app or API key of the open page. */
export interface OpenKey {
  /** `undefined` if the page has none. */
  readonly item: { readonly kind: 'app' | 'apiKey'; readonly id: string; readonly name: string } | undefined
  /** The networks of its URLs; none if its key cannot be shown. */
  readonly networks: readonly NetworkView[]
  /** Gets its URL on a network, which contains the key. */
  readonly getUrl: (network: string, password: string | undefined) => Promise<string>
}

/** Finds the app or API key of the open page, once it is loaded. */
export function useOpenKey(): OpenKey {
  const { appId = '', keyId = '' } = useParams({ strict: false })
  const { data: app } = useQuery({ ...appQuery(appId), enabled: appId !== '' })
  const { data: key } = useQuery({ ...keyQuery(keyId), enabled: keyId !== '' })
  const { data: deployment } = useQuery(deploymentQuery)
  const record = app ?? key
  const holder = useKeyHolder({
    id: record?.id ?? '',
    prefix: 'kr_a',
    ending: (app?.key ?? key)?.ending ?? '',
    revealable: (app?.key ?? key)?.revealable ?? false,
    reveal: (password) =>
      app === undefined
        ? callApi('POST /api/keys/{keyId}/reveal', { params: { keyId }, body: toConfirmBody(password) })
        : callApi('POST /api/apps/{appId}/key/reveal', { params: { appId }, body: toConfirmBody(password) }),
  })
  const names = app?.networks ?? (key ? [key.network] : [])
  const networks = deployment?.networks.filter(({ network }) => names.includes(network)) ?? []
  return {
    item: record && { kind: app ? 'app' : 'apiKey', id: record.id, name: record.name },
    networks: canShowKey(holder) ? networks : [],
    getUrl: async (name, password) => {
      const network = networks.find((one) => one.network === name)
      if (network === undefined) throw new Error('the network is not one of the app')
      return getUrl(app === undefined ? { keyId } : { appId }, network, await holder.reveal(password))
    },
  }
}
