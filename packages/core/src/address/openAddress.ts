import { invalid } from '../failure/keyrailError.ts'
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

function need(ok: unknown, why: string): asserts ok {
  if (!ok) throw invalid(why)
}

const lastFour = (secret: string): string => '…' + (secret.length < 16 ? '' : secret.slice(-4))

const perNetwork = <T>(name: string, value: PerNetwork<T>, network: string | undefined): T => {
  if (typeof value !== 'object' || value === null) return value
  need(network, `${name} differs by network: add network: 'testnet' or 'mainnet'`)
  return (value as Record<string, T>)[network] as T
}

/** Checks a URL without ever repeating it: it may hold a key. */
const parseUrl = (name: string, text: unknown): URL => {
  need(text && typeof text === 'string', `${name} is missing`)
  try {
    const url = new URL(text)
    if (/^https?:$/.test(url.protocol)) return url
  } catch {
    // The platform's own error repeats the URL.
  }
  throw invalid(`${name} must be a whole URL that starts with https:// or http://`)
}

const checkSecret = (name: string, secret: unknown): string => {
  need(typeof secret === 'string' && secret.trim(), `${name} is missing or blank: copy it from the dashboard`)
  if (name === 'apiKey') need(!/\//.test(secret), `apiKey holds a '/': did you paste the whole address? pass it as url`)
  need(
    /^[\w.~!$&'()*+,;=:@/-]+$/.test(secret),
    `${name} holds white space or a character that does not belong: copy it again`,
  )
  return secret
}

/** Asks a secret's function. What the function throws may hold the secret, so only its name is told. */
const ask = async (name: string, secret: Secret): Promise<string> => {
  if (typeof secret !== 'function') return secret
  let value
  try {
    value = await secret()
  } catch (error) {
    throw invalid(`the ${name} function failed (${error instanceof Error ? error.name : typeof error})`)
  }
  return checkSecret(name, value)
}

/**
 * Checks an address and takes it apart into what may be printed and a closure that holds the rest.
 *
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and the mend.
 */
export function openAddress(options: AddressOptions): Address {
  const { baseUrl, rpcUrl, url: whole, apiKey, network, jwt } = options
  need(
    [baseUrl, rpcUrl, whole].filter((value) => value !== undefined).length === 1,
    'an address needs exactly one of baseUrl, rpcUrl and url',
  )
  need(
    network === undefined || network === 'testnet' || network === 'mainnet',
    `network is unknown: it is 'testnet' or 'mainnet'`,
  )
  const chainId = perNetwork('chainId', options.chainId, network)
  need(
    chainId === undefined || (Number.isSafeInteger(chainId) && chainId > 0),
    'chainId must be a whole number above 0',
  )

  let label: string
  let build: (key: string) => { url: string; secrets: string[]; label: string }
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (whole !== undefined) {
    need(apiKey === undefined, 'url holds the key already: drop apiKey, or pass baseUrl or rpcUrl in place of url')
    const { origin, pathname, search, searchParams, username, password } = parseUrl('url', whole)
    const values = [...pathname.split('/'), ...searchParams.values()].filter(Boolean)
    const longest = [...values].sort((a, b) => b.length - a.length)[0]
    label = origin + (longest ? '/' + lastFour(longest) : '')
    if (username || password) {
      try {
        headers['authorization'] = `Basic ${btoa(decodeURIComponent(`${username}:${password}`))}`
      } catch {
        throw invalid('url holds credentials that cannot be sent: percent-encode them')
      }
      values.push(username, password)
    }
    const address = { url: origin + pathname + search, secrets: values.filter((value) => value.length > 7), label }
    build = () => address
  } else {
    const name = baseUrl === undefined ? 'rpcUrl' : 'baseUrl'
    const base = perNetwork(name, (baseUrl ?? rpcUrl) as PerNetwork, network)
    const url = parseUrl(name, base)
    need(!url.username && !url.password, `${name} holds credentials: drop them, or pass the whole address as url`)
    need(!/[?#]/.test(base), `${name} holds a query or a fragment: drop it`)
    need(!base.endsWith('/'), `${name} ends with '/': drop it`)
    if (name === 'baseUrl') need(!base.endsWith('/v2'), `baseUrl ends with /v2: drop it, it is added for you`)
    const front = base + (name === 'baseUrl' ? '/v2/' : '/')
    label = front + '…'
    build = (key) => {
      need(!base.includes(key), `${name} holds the apiKey already: pass the whole address as url`)
      return { url: front + key, secrets: [key], label: front + lastFour(key) }
    }
    if (typeof apiKey !== 'function') label = build(checkSecret('apiKey', apiKey)).label
  }

  if (jwt !== undefined && typeof jwt !== 'function') checkSecret('jwt', jwt)
  // Secrets stay masked after a rotation, for an answer that still speaks of the one before.
  let seen: string[] = []
  let last: OpenAddress | undefined
  const make = (key: string, token: string): OpenAddress => {
    const address = build(key)
    const authorization = token ? `Bearer ${token}` : headers['authorization']
    if (last?.url === address.url && last.headers['authorization'] === authorization) return last
    seen = [...new Set([...address.secrets, token, ...seen])].filter(Boolean).slice(0, 16)
    return (last = { ...address, secrets: seen, headers: authorization ? { ...headers, authorization } : headers })
  }
  const key = apiKey ?? ''
  const token = jwt ?? ''
  if (typeof key === 'string' && typeof token === 'string') {
    const fixed = make(key, token)
    return { label, chainId, open: () => fixed }
  }
  return { label, chainId, open: async () => make(await ask('apiKey', key), await ask('jwt', token)) }
}
