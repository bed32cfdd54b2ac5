import type { UpstreamSecrets } from './createErrorMask.ts'
import { isVendorNetwork } from '../../lib/vendors.ts'
import { getHeaderSecrets } from './upstreamHeaders.ts'
import type { UpstreamHeaders } from '../options/upstreamOptions.ts'

/** A shorter part may be a common word (`rpc`, `v2`, `geth`) in a node's message. */
const minSecretLength = 8

/** Gets the parts of a URL, and the headers, that a node's error text might repeat. */
export const getSecrets = (url: URL, headers: UpstreamHeaders): UpstreamSecrets => {
  const { href, host, hostname, pathname, search, searchParams, username, password } = url
  const parts = [
    ...[...pathname.split('/'), ...searchParams.values()].filter((part) => !isVendorNetwork(part)),
    username,
    password,
    getCredentials(url) ?? '',
    ...getHeaderSecrets(headers),
  ]
  return {
    secrets: toSpellings(parts),
    wholes: toSpellings([href, host, hostname, `${pathname}${search}`]),
  }
}

/** The texts that are long enough, with and without their percent escapes. */
const toSpellings = (texts: readonly string[]): readonly string[] =>
  [...new Set(texts.flatMap((text) => [text, decode(text)]))].filter(({ length }) => length >= minSecretLength)

/** User and password, joined as in HTTP's Basic scheme; `undefined` if there are none. */
export const getCredentials = ({ username, password }: URL): string | undefined =>
  username === '' && password === '' ? undefined : `${decode(username)}:${decode(password)}`

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
