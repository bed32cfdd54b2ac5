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
  const { apiKey, network, jwt } = options
  const [name, another] = (['url', 'baseUrl', 'rpcUrl'] as const).filter((one) => options[one] !== undefined)
  const whole = name === 'url'
  check(name && !another && !(whole && apiKey), 'pass url alone, or baseUrl or rpcUrl with apiKey')
  const ofNetwork = <T>(value: PerNetwork<T> | undefined): T => {
    const record = Object(value) === value
    check(/^(test|main)net$/.test(network ?? (record ? '' : 'testnet')), `network must be 'testnet' or 'mainnet'`)
    return (record ? (value as Record<string, T>)[network as string] : value) as T
  }
  const chainId = ofNetwork(options.chainId)
  checkRange('chainId', chainId, 1, 2 ** 53)
  let url = ofNetwork<string>(options[name] as PerNetwork)
  const [match, scheme = '', user = '', password = '', host = '', path = ''] =
    /^(https?:\/\/)(?:([^/?#@:]*):?([^/?#@]*)@)?([^/?#@\s]+)([^#]*)/i.exec(url) ?? []
  check(
    match && (whole || !/[?#@]|\/$/.test(url)),
    `${name} must be like https://host/path: credentials, a query or '/' at its end are for url alone`,
  )

  let label: string | undefined
  let secrets: string[] = []
  let basic = ''
  if (whole) {
    label = scheme + host
    url = label + path
    secrets = path.split(/[/?&=]/).sort((a, b) => b.length - a.length)
    if (secrets[0]) label += '/' + lastFour(secrets[0])
    secrets = [...secrets, user, password].filter((secret) => secret.length > 7)
    // fetch refuses a URL that holds them.
    if (user || password) basic = `Basic ${btoa(decodeURIComponent(`${user}:${password}`))}`
  } else url += name === 'baseUrl' ? '/v2/' : '/'

  const verify = (name: string, secret: Secret | undefined): string => {
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
    if (last?.secrets[0] !== key || last.secrets[1] !== token) {
      const authorization = token ? `Bearer ${token}` : basic
      // Secrets stay masked after a rotation, for an answer that still speaks of the one before.
      secrets = [key, token, ...secrets].slice(0, 32)
      last = {
        url: url + key,
        label: label ?? url + lastFour(key),
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
    label: label ?? url + lastFour(apiKey),
    chainId,
    open: () => fixed || Promise.all([ask('apiKey', apiKey), ask('jwt', jwt)]).then((asked) => make(...asked)),
  }
}
