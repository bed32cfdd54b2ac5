import { readFileSync } from 'node:fs'
import type { ServiceConfig } from './serviceConfig.ts'

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The shortest part of a path that may be a key of some provider, rather than a word such as `mainnet`. */
const shortestSegment = 12

/** The texts of a URL that nobody may see: the whole of it, its password, and what in its path or query may be a key. */
const secretsOfUrl = (text: string): string[] => {
  const url = URL.parse(text)
  if (url === null) return [text]
  const segments = url.pathname.split('/').filter(({ length }) => length >= shortestSegment)
  const values = [...url.searchParams.values()]
  const rest = `${url.pathname}${url.search}`
  return [
    text,
    url.href,
    decoded(url.password),
    ...segments,
    ...values,
    // Runs of it would be words too, so it is secret as a whole only where no part of it is.
    ...(rest.length > shortestSegment && segments.length + values.length === 0 ? [rest] : []),
  ]
}

const textOf = (file: string | undefined): string => {
  if (file === undefined || file === '') return ''
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/**
 * All that is secret in a config and the environment that a service was started with.
 * @param config - As it was read, `urlEnv` and `urlFile` followed.
 * @param environment - The environment. The file that `KEYRAIL_SECRET_FILE` names is read; where it cannot be, it holds nothing.
 */
export const configSecrets = (
  { networks }: Pick<ServiceConfig, 'networks'>,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] => {
  const upstreams = [...networks.testnet.upstreams, ...networks.mainnet.upstreams]
  const { KEYRAIL_SECRET = '', KEYRAIL_OPERATOR_TOKEN = '', DATABASE_URL, REDIS_URL } = environment
  return [
    ...upstreams.flatMap(({ url }) => (url === undefined ? [] : secretsOfUrl(url))),
    ...[DATABASE_URL, REDIS_URL].flatMap((url) => (url === undefined ? [] : secretsOfUrl(url))),
    ...[KEYRAIL_SECRET, textOf(environment['KEYRAIL_SECRET_FILE'])].flatMap((text) =>
      text.split(/\s+/).map((part) => part.replace(/^\d+:/, '')),
    ),
    KEYRAIL_OPERATOR_TOKEN,
  ].filter((secret) => secret !== '')
}
