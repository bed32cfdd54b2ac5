import type { SnippetAddress } from '@keyrail/snippets'
import type { KeySubject } from '../control/queries.ts'
import type { NetworkView } from '../networks/searchNetworks.ts'

/** The URL of an app's key or an API key on a network. */
export const getUrl = (subject: KeySubject, { url }: NetworkView, apiKey: string): string =>
  `${url}${'appId' in subject ? '/v2' : ''}/${apiKey}`

/** The same endpoint without the key, for example calls. */
export const getAddress = (subject: KeySubject, { url }: NetworkView): SnippetAddress =>
  'appId' in subject ? { baseUrl: url } : { rpcUrl: url }
