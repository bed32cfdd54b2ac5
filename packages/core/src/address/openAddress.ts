import { check, invalid } from '../failure/invalid.ts'
import type { AddressOptions, PerNetwork, Secret } from './addressOptions.ts'
import { baseUrlProblem, urlProblem } from './urlProblem.ts'

/** An address as one attempt needs it. Never kept where a caller can reach it. */
export interface OpenAddress {
  readonly url: string
  readonly headers: Record<string, string>
  /** What must not appear in anything that is printed. */
  readonly secrets: readonly string[]
  readonly redactedUrl: string
}

/** An address, checked. The key stays inside `open`. */
export interface Address {
  /** What may be printed before the key is known. */
  readonly redactedUrl: string
  readonly chainId: number | undefined
  /** Gives the address for one attempt; a promise only where the key or token comes from a function. */
  readonly open: () => OpenAddress | Promise<OpenAddress>
}

const lastFour = (secret: unknown): string =>
  typeof secret === 'string' && secret.length > 15 ? '…' + secret.slice(-4) : '…'

/**
 * Scheme, user, password, host with port, and path with query. Stricter than `URL`, which takes a backslash for a slash and looks for the host behind
 * the last @: nothing that could be a secret may stand where the redacted URL is taken from.
 */
const addressParts =
  /^(https?:\/\/)(?:([^/?#@:\\]*):?([^/?#@\\]*)@)?((?:\[[\da-f:.]+\]|[^\s/?#@\\:;%&=[\]]+)(?::\d{1,5})?)((?:[/?][^#@\\\s]*)?)(?:#.*)?$/i

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Checks an address and takes it apart into what may be printed and a closure that holds the rest.
 *
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and the mend.
 */
export function openAddress(options: AddressOptions): Address {
  check(Object(options) === options, 'an address is an object: { url }, or { baseUrl, apiKey } or { rpcUrl, apiKey }')
  const { apiKey, network, jwt } = options
  const [name, another] = (['url', 'baseUrl', 'rpcUrl'] as const).filter((one) => options[one] !== undefined)
  const whole = name === 'url'
  const shapes = 'pass url alone, or baseUrl or rpcUrl with apiKey'
  check(name, `no URL is given (is the variable set?): ${shapes}`)
  check(!another && !(whole && apiKey), shapes)
  const ofNetwork = <T>(value: PerNetwork<T> | undefined): T => {
    const record = Object(value) === value && Object.keys(value as object).some((key) => /^(test|main)net$/.test(key))
    check(/^(test|main)net$/.test(network ?? (record ? '' : 'testnet')), `network must be 'testnet' or 'mainnet'`)
    return (record ? (value as Record<string, T>)[network as string] : value) as T
  }
  const chainId = ofNetwork(options.chainId)
  check(
    chainId === undefined || (Number.isSafeInteger(chainId) && chainId > 0),
    'chainId must be a whole number above 0',
  )
  let url = ofNetwork<string>(options[name] as PerNetwork)
  const parts = typeof url === 'string' && addressParts.exec(url)
  check(parts, `${name} ${urlProblem(url, network)}`)
  const [, scheme = '', user = '', password = '', host = '', path = ''] = parts
  const problem = whole ? undefined : baseUrlProblem(url)
  check(!problem, `${name} ${problem}`)

  let redactedUrl: string | undefined
  let secrets: string[] = []
  let basic = ''
  if (whole) {
    redactedUrl = scheme + host
    url = redactedUrl + path
    secrets = path.split(/[/?&=]/).sort((a, b) => b.length - a.length)
    if (secrets[0]) redactedUrl += '/' + lastFour(secrets[0])
    secrets = [...secrets, user, password]
    // fetch refuses a URL that holds them.
    try {
      if (user || password) basic = btoa(decoded(`${user}:${password}`))
    } catch {
      throw invalid('url holds credentials that cannot be sent: they must be Latin characters')
    }
    secrets = [...secrets, ...secrets.map(decoded), basic].filter((secret) => secret.length > 7)
  } else url += name === 'baseUrl' ? '/v2/' : '/'

  const verify = (name: string, secret: Secret | undefined): string => {
    check(secret && typeof secret === 'string', `${name} is missing or empty: is the variable set?`)
    check(
      name === 'jwt' || !secret.includes('/'),
      `${name} holds a '/': did you paste the whole address? pass it as url`,
    )
    // The characters of a path segment, without escapes: RFC 3986 section 3.3. From & to . are &'()*+,-.
    check(
      /^[\w!$&-.:;=@~]+$/.test(secret),
      `${name} holds white space or another character that does not belong: copy it again`,
    )
    check(!url.includes(`/${secret}/`), `${name} is in the URL already: pass the whole address as url`)
    return secret
  }
  /** Asks a secret's function. What the function throws may hold the secret, so it is not told. */
  const ask = async (name: string, secret: Secret | undefined): Promise<string | undefined> => {
    if (typeof secret !== 'function') return secret
    // Not while layers are at work: it may abort the call or close the transport.
    await Promise.resolve()
    try {
      secret = await secret()
    } catch {
      throw invalid(`the ${name} function failed`)
    }
    return verify(name, secret)
  }
  let last: OpenAddress | undefined
  const make = (key = '', token = ''): OpenAddress => {
    if (last?.secrets[0] !== key || last.secrets[1] !== token) {
      const authorization = token ? `Bearer ${token}` : basic && `Basic ${basic}`
      // Secrets stay masked after a rotation, for an answer that still speaks of the one before.
      secrets = [key, token, ...secrets].slice(0, 32)
      last = {
        url: url + key,
        redactedUrl: redactedUrl ?? url + lastFour(key),
        headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
        secrets,
      }
    }
    return last
  }
  if (!whole && typeof apiKey !== 'function') verify('apiKey', apiKey)
  if (jwt !== undefined && typeof jwt !== 'function') verify('jwt', jwt)
  const fixed = typeof apiKey !== 'function' && typeof jwt !== 'function' && make(apiKey, jwt)
  return {
    redactedUrl: redactedUrl ?? url + lastFour(apiKey),
    chainId,
    open: () => fixed || Promise.all([ask('apiKey', apiKey), ask('jwt', jwt)]).then((asked) => make(...asked)),
  }
}
