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

const lastFour = (secret: string): string => (secret.length < 16 ? '…' : '…' + secret.slice(-4))

const checkSecret = (name: string, secret: Secret): string => {
  check(
    typeof secret === 'string' && /^[\w.~!$&'()*+,;=:@-]+$/.test(secret),
    `${name} is missing, blank or malformed: a whole address is passed as url`,
  )
  return secret
}

/** Asks a secret's function. What the function throws may hold the secret, so it is not told. */
const ask = async (name: string, secret: Secret): Promise<string> => {
  if (typeof secret === 'string') return secret
  try {
    secret = await secret()
  } catch {
    throw invalid(`the ${name} function failed`)
  }
  return checkSecret(name, secret)
}

/**
 * Checks an address and takes it apart into what may be printed and a closure that holds the rest.
 *
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and the mend.
 */
export function openAddress(options: AddressOptions): Address {
  const { baseUrl, rpcUrl, url: whole, apiKey, network, jwt } = options
  const ofNetwork = <T>(value: PerNetwork<T> | undefined): T => {
    const record = Object(value) === value
    check(/^(test|main)net$/.test(network ?? (record ? '' : 'testnet')), `network must be 'testnet' or 'mainnet'`)
    return (record ? (value as Record<string, T>)[network as string] : value) as T
  }
  const chainId = ofNetwork(options.chainId)
  checkRange('chainId', chainId, 1, 2 ** 53)
  const name = whole !== undefined ? 'url' : baseUrl !== undefined ? 'baseUrl' : 'rpcUrl'
  const base = ofNetwork(whole ?? baseUrl ?? rpcUrl)
  check(
    [baseUrl, rpcUrl, whole].filter((value) => value === undefined).length === 2 &&
      (whole === undefined || apiKey === undefined),
    'pass url alone, or baseUrl or rpcUrl with apiKey',
  )
  let parsed: URL | undefined
  try {
    parsed = new URL(base as string)
  } catch {
    // The platform's own error repeats the URL.
  }
  check(
    parsed && (whole ? /^https?:/i.test(base as string) : /^https?:[^?#@]+[^/?#@]$/i.test(base as string)),
    `${name} must be like https://host/path` + (whole ? '' : `, without credentials, query or '/' at its end`),
  )

  let url = base as string
  let label: string
  let hidden: string[] = []
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (whole === undefined) {
    url += baseUrl === undefined ? '/' : '/v2/'
    label = url + '…'
    if (typeof apiKey !== 'function') {
      checkSecret('apiKey', apiKey as string)
    }
  } else {
    const { origin, pathname, search, username, password } = parsed
    url = origin + pathname + search
    hidden = (pathname + search).split(/[/?&=]/).sort((a, b) => b.length - a.length)
    label = origin + (hidden[0] && '/' + lastFour(hidden[0]))
    // fetch refuses a URL that holds them.
    if (username || password) headers['authorization'] = `Basic ${btoa(decodeURIComponent(`${username}:${password}`))}`
    hidden = [...hidden, password].filter((secret) => secret.length > 7)
  }

  let last: OpenAddress | undefined
  const make = (key = '', token = ''): OpenAddress => {
    check(!key || !url.includes(key), 'the apiKey stands in the URL already: pass that as url')
    const bearer = token && `Bearer ${token}`
    if (last?.url !== url + key || (bearer && last.headers['authorization'] !== bearer))
      last = {
        url: url + key,
        label: key ? url + lastFour(key) : label,
        headers: bearer ? { ...headers, authorization: bearer } : headers,
        // Secrets stay masked after a rotation, for an answer that still speaks of the one before.
        secrets: [...hidden, key, encodeURIComponent(key), token, ...(last?.secrets ?? [])].slice(0, 32),
      }
    return last
  }
  if (typeof jwt === 'string') checkSecret('jwt', jwt)
  if (typeof apiKey !== 'function' && typeof jwt !== 'function') {
    const fixed = make(apiKey, jwt)
    return { label: fixed.label, chainId, open: () => fixed }
  }
  return {
    label: typeof apiKey === 'string' ? make(apiKey).label : label,
    chainId,
    open: async () => make(await ask('apiKey', apiKey ?? ''), await ask('jwt', jwt ?? '')),
  }
}
