import { check, checkRange, invalid } from '../failure/invalid.ts'
import type { AddressOptions, PerNetwork, Secret } from './addressOptions.ts'

/** An address as one attempt needs it. Never kept where a caller can reach it. */
export interface OpenAddress {
  readonly url: string
  readonly headers: Record<string, string>
  /** What must not appear in anything that is printed. */
  readonly secrets: readonly string[]
  readonly label: string
}

/** An address, checked. The key stays inside `open`. */
export interface Address {
  /** What may be printed before the key is known. */
  readonly label: string
  readonly chainId: number | undefined
  /** Gives the address for one attempt; a promise only where the key or token comes from a function. */
  readonly open: () => OpenAddress | Promise<OpenAddress>
}

const lastFour = (secret: unknown): string =>
  typeof secret === 'string' && secret.length > 15 ? '…' + secret.slice(-4) : '…'

/**
 * Checks an address and takes it apart into what may be printed and a closure that holds the rest.
 *
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and the mend.
 */
export function openAddress(options: AddressOptions): Address {
  const { baseUrl, rpcUrl, url: whole, apiKey, network, jwt } = options
  const [name, another] = (['url', 'baseUrl', 'rpcUrl'] as const).filter((one) => options[one] !== undefined)
  check(
    name && !another && (whole === undefined || apiKey === undefined),
    'pass url alone, or baseUrl or rpcUrl with apiKey',
  )
  const ofNetwork = <T>(value: PerNetwork<T> | undefined): T => {
    const record = Object(value) === value
    check(/^(test|main)net$/.test(network ?? (record ? '' : 'testnet')), `network must be 'testnet' or 'mainnet'`)
    return (record ? (value as Record<string, T>)[network as string] : value) as T
  }
  const chainId = ofNetwork(options.chainId)
  checkRange('chainId', chainId, 1, 2 ** 53)
  let url = ofNetwork<string>(whole ?? baseUrl ?? rpcUrl)
  let parsed: URL | undefined
  try {
    parsed = new URL(url)
  } catch {
    // The platform's own error repeats the URL.
  }
  check(
    parsed && (whole ? /^https?:/i : /^https?:[^?#@]+[^/?#@]$/i).test(url),
    `${name} must be like https://host/path: credentials, a query or '/' at its end are for url alone`,
  )

  let label: string | undefined
  let hidden: readonly string[] = []
  let basic = ''
  if (whole) {
    const { origin, pathname, search, username, password } = parsed
    url = origin + pathname + search
    const [longest = '', ...others] = (pathname + search).split(/[/?&=]/).sort((a, b) => b.length - a.length)
    label = origin + (longest && '/' + lastFour(longest))
    hidden = [longest, ...others, password].filter((secret) => secret.length > 7)
    // fetch refuses a URL that holds them.
    if (username || password) basic = `Basic ${btoa(decodeURIComponent(`${username}:${password}`))}`
  } else url += baseUrl ? '/v2/' : '/'

  const verify = (name: string, secret: unknown): string => {
    check(
      // The characters of a path segment, without escapes: RFC 3986 section 3.3. From & to . are &'()*+,-.
      typeof secret === 'string' && /^[\w!$&-.:;=@~]+$/.test(secret) && !url.includes(`/${secret}/`),
      `${name} is missing, malformed or in the URL already: a whole address is passed as url`,
    )
    return secret
  }
  /** Asks a secret's function. What the function throws may hold the secret, so it is not told. */
  const ask = async (name: string, secret: Secret | undefined): Promise<string | undefined> => {
    if (typeof secret !== 'function') return secret
    try {
      secret = await secret()
    } catch {
      throw invalid(`the ${name} function failed`)
    }
    return verify(name, secret)
  }
  let last: OpenAddress | undefined
  const make = (key = '', token = ''): OpenAddress => {
    const authorization = token ? `Bearer ${token}` : basic
    if (last?.url !== url + key || (last.headers['authorization'] ?? '') !== authorization)
      last = {
        url: url + key,
        label: label ?? url + lastFour(key),
        headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
        // Secrets stay masked after a rotation, for an answer that still speaks of the one before.
        secrets: [key, token, ...(last?.secrets ?? hidden)].slice(0, 32),
      }
    return last
  }
  if (!whole && typeof apiKey !== 'function') verify('apiKey', apiKey)
  if (jwt !== undefined && typeof jwt !== 'function') verify('jwt', jwt)
  const fixed = typeof apiKey !== 'function' && typeof jwt !== 'function' ? make(apiKey, jwt) : undefined
  return {
    label: label ?? url + lastFour(apiKey),
    chainId,
    open: () => fixed ?? Promise.all([ask('apiKey', apiKey), ask('jwt', jwt)]).then((secrets) => make(...secrets)),
  }
}
