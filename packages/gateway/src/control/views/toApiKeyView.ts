import { getApiKeyUrl } from '../../proxy/http/rpcUrls.ts'
import type { Network } from '../../lib/network.ts'
import type { Key } from '../../storage/keys.ts'
import type { ApiKeyView } from '../contract/controlApi.d.ts'
import { toKeyDetails } from './toKeyDetails.ts'
import { createView } from './createView.ts'
import { apiKeyView } from '../contract/apiKey.ts'

/** Gets the network of an API key. */
export const getKeyNetwork = (key: Key): Network => {
  if (key.network === null) throw new TypeError("an app's key has no single network")
  return key.network
}

const toView = createView(apiKeyView)

/** Converts a stored API key to its API form. */
export const toApiKeyView = (key: Key, { publicUrl, now }: { publicUrl: string; now: number }): ApiKeyView => ({
  ...toView(key),
  network: getKeyNetwork(key),
  ...toKeyDetails(key, now),
  url: getApiKeyUrl(publicUrl, getKeyNetwork(key), `…${key.ending}`),
})
