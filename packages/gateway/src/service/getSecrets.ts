import { readFileSync } from 'node:fs'
import { isVendorNetwork } from '../lib/vendors.ts'
import { getHeaderSecrets } from '../proxy/upstream/upstreamHeaders.ts'
import { parseRedisUrl } from '../storage/redis/parseRedisUrl.ts'
import type { ServiceConfig } from './serviceConfig.ts'
import type { Environment } from './serviceEnvironment.ts'

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Path segments of this length can be provider keys; shorter ones are words such as `mainnet`. */
const minSecretSegment = 12

/** The secret parts of a URL: the full URL, its password, and possible keys in its path and query. */
const getUrlSecrets = (text: string): string[] => {
  const url = URL.parse(text)
  if (url === null) return [text]
  const segments = url.pathname
    .split('/')
    .filter((segment) => segment.length >= minSecretSegment && !isVendorNetwork(segment))
  const values = [...url.searchParams.values()].filter((value) => !isVendorNetwork(value))
  const rest = `${url.pathname}${url.search}`
  return [
    text,
    url.href,
    decode(url.password),
    ...segments,
    ...values,
    // Parts of the path would be common words, so it is only secret as a whole, and only if it has no other secret.
    ...(rest.length > minSecretSegment && segments.length + values.length === 0 ? [rest] : []),
  ]
}

/** The passwords of a Redis URL with several hosts, which `URL.parse` rejects. */
const getRedisPasswords = (text = ''): string[] => {
  try {
    const target = parseRedisUrl(text)
    return [target.password, target.kind === 'sentinel' ? target.sentinelPassword : undefined].flatMap((one = '') => [
      one,
      encodeURIComponent(one),
    ])
  } catch {
    return []
  }
}

const readText = (file: string | undefined): string => {
  if (file === undefined || file === '') return ''
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/**
 * Gets the secrets of a config and its environment, to hide them in logs.
 * @param config - As `readServiceConfig` returns it, with the URLs, headers and passwords from files and variables.
 * @param environment - If the file of `KEYRAIL_SECRET_FILE` cannot be read, its secrets are left out.
 */
export const getSecrets = (
  { networks, tracing, email, oidc }: Pick<ServiceConfig, 'networks' | 'tracing' | 'email' | 'oidc'>,
  environment: Environment,
): readonly string[] => {
  const upstreams = Object.values(networks).flatMap((network) => network.upstreams)
  const { KEYRAIL_SECRET = '', KEYRAIL_OPERATOR_TOKEN = '', DATABASE_URL, REDIS_URL, CACHE_REDIS_URL } = environment
  return [
    ...upstreams.flatMap(({ url, wsUrl }) =>
      [url, wsUrl].flatMap((one) => (one === undefined ? [] : getUrlSecrets(one))),
    ),
    ...[...upstreams, ...(tracing === undefined ? [] : [tracing])].flatMap(({ headers = {} }) =>
      getHeaderSecrets(headers),
    ),
    ...(tracing === undefined ? [] : getUrlSecrets(tracing.endpoint)),
    email?.smtp.password ?? '',
    oidc?.clientSecret ?? '',
    ...[DATABASE_URL, REDIS_URL, CACHE_REDIS_URL].flatMap((url) => (url === undefined ? [] : getUrlSecrets(url))),
    ...[REDIS_URL, CACHE_REDIS_URL].flatMap(getRedisPasswords),
    ...[KEYRAIL_SECRET, readText(environment['KEYRAIL_SECRET_FILE'])].flatMap((text) =>
      text.split(/\s+/).map((part) => part.replace(/^\d+:/, '')),
    ),
    KEYRAIL_OPERATOR_TOKEN,
  ].filter((secret) => secret !== '')
}
