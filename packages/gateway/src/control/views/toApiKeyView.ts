import { getApiKeyUrl } from '../../proxy/http/rpcUrls.ts'
import type { Network } from '../../lib/network.ts'
import type { Key } from '../../storage/keys.ts'
import type { ApiKeyView } from '../contract/apiKey.ts'
import { toKeyFacts } from './toKeyFacts.ts'
import { isoTimeOrNull } from './times.ts'

/** The network of an API key. */
export const networkOf = (key: Key): Network => {
  if (key.kind === 'app') throw new TypeError("an app's key has no network of its own")
  return key.kind
}

/** An API key as the API shows it. */
export const toApiKeyView = (key: Key, { publicUrl, now }: { publicUrl: string; now: number }): ApiKeyView => ({
  id: key.id,
  name: key.name,
  description: key.description,
  network: networkOf(key),
  ...toKeyFacts(key, now),
  address: getApiKeyUrl(publicUrl, networkOf(key), `…${key.ending}`),
  revokedAt: isoTimeOrNull(key.revokedAt),
  version: key.version,
})
