import { check, invalidRequest } from '../failure/check.ts'
import { describeType } from '../failure/describeType.ts'
import { describeBaseUrlProblem, describeUrlProblem } from './describeUrlProblem.ts'
import type { EndpointUrlOptions, Secret } from './endpointUrlOptions.ts'
import { checkRequestHeaders, findHeaderSecrets } from './requestHeaders.ts'
import { getUserAgentHeader } from './userAgent.ts'
import { checkNetwork, selectNetwork, selectUrl } from './selectNetwork.ts'

/** The URL, headers and secrets of one attempt to send a request. Contains the key, so it is never stored where a caller can reach it. */
export interface RequestTarget {
  readonly url: string
  readonly headers: Record<string, string>
  /** Secrets that must not appear in any output. */
  readonly secrets: readonly string[]
  readonly redactedUrl: string
}

/** An endpoint whose options are valid. Only `getTarget` has access to the key. */
export interface ResolvedEndpoint {
  /** The URL without secrets, as far as it is known before the first request. */
  readonly redactedUrl: string
  readonly chainId: number | undefined
  /** Returns the target of one attempt; a promise only if the key, the token or the headers come from a function. */
  readonly getTarget: () => RequestTarget | Promise<RequestTarget>
}

const checkVariable = 'If it comes from an environment variable, check that it is set.'

/** Rotated secrets that stay masked, in case a response still contains one. */
const MAX_EARLIER_SECRETS = 32

/** Shorter parts of a URL are not masked, because they are common words. */
const MIN_MASKED_LENGTH = 8

/** Shorter secrets are hidden completely. */
const MIN_LENGTH_TO_SHOW_END = 16

const lastFour = (secret: unknown): string =>
  typeof secret === 'string' && secret.length >= MIN_LENGTH_TO_SHOW_END ? '…' + secret.slice(-4) : '…'

/**
 * Scheme, user, password, host with port, and path with query. Stricter than `URL`, which accepts a backslash as a slash and takes the host
 * from behind the last @, so that no secret can be part of the redacted URL.
 */
const urlParts =
  /^(https?:\/\/)(?:([^/?#@:\\]*):?([^/?#@\\]*)@)?((?:\[[\da-f:.]+\]|[^\s/?#@\\:;%&=[\]{}]+)(?::\d{1,5})?)((?:[/?][^#@\\\s{}]*)?)(?:#.*)?$/i

/** The characters of a path segment, without escapes: RFC 3986 section 3.3. From & to . are &'()*+,-. */
const secretCharacters = /^[\w!$&-.:;=@~]+$/

/** A key of Keyrail's service as the last segment of a URL; if there is no key elsewhere, one of any service. */
const endsWithOurKey = /\/kr_\w+$/
const endsWithKey = /\/(?:kr_\w+|\w{20,})$/

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The credentials of a URL as HTTP Basic authentication: `fetch` rejects a URL that contains them. */
const encodeBasic = (user: string, password: string): string => {
  if (!user && !password) return ''
  try {
    return btoa(decode(`${user}:${password}`))
  } catch {
    throw invalidRequest(
      'The credentials in url contain characters outside Latin-1, which HTTP cannot send. Use another user name or password.',
    )
  }
}

const checkSecret = (option: string, secret: unknown, urlOption: string, url: string): string => {
  check(secret && typeof secret === 'string', `${option} is missing or empty. ${checkVariable}`)
  check(
    option === 'jwt' || !secret.includes('/'),
    `${option} contains "/". If you copied a full URL, pass it as url instead, without ${option}.`,
  )
  check(secretCharacters.test(secret), `${option} contains white space or another invalid character. Copy it again.`)
  check(
    !url.includes(`/${secret}/`),
    `${option} is already part of ${urlOption}. Remove it there, or pass the full URL as url.`,
  )
  return secret
}

/** Calls an option's function. What the function throws may contain a secret, so it is not repeated. */
const callOption = async <T>(option: string, read: () => T | Promise<T>): Promise<T> => {
  // Not while layers are running: the function may abort the call or close the transport.
  await Promise.resolve()
  try {
    return await read()
  } catch {
    throw invalidRequest(`The ${option} function failed. Call it directly to see its error.`)
  }
}

/**
 * Checks the options of an endpoint, and separates what may be printed from the key.
 *
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and how to fix it.
 */
export function resolveEndpoint(options: EndpointUrlOptions): ResolvedEndpoint {
  check(
    Object(options) === options,
    'The endpoint must be an object: { url }, { baseUrl, apiKey } or { rpcUrl, apiKey }.',
  )
  const { apiKey, network, jwt, headers = {} } = options
  const [name, other] = (['url', 'baseUrl', 'rpcUrl'] as const).filter((option) => options[option] !== undefined)
  check(name, `The URL is missing. Pass url, or baseUrl or rpcUrl with apiKey. ${checkVariable}`)
  check(!other, `${name} and ${other} cannot be used together. Pass only one of them.`)
  const isFull = name === 'url'
  check(
    !isFull || !apiKey,
    'url and apiKey cannot be used together. Pass the full URL with the key as url, or baseUrl or rpcUrl with apiKey.',
  )
  checkNetwork(network)
  const chainId = selectNetwork('chainId', options.chainId, network)
  check(
    chainId === undefined || (typeof chainId === 'number' && Number.isSafeInteger(chainId) && chainId > 0),
    `chainId must be a positive whole number, not ${typeof chainId === 'number' ? chainId : describeType(chainId)}.`,
  )
  const given = selectUrl(name, options[name], network)
  const parts = typeof given === 'string' && urlParts.exec(given)
  check(parts, `${name} ${describeUrlProblem(given, network)}`)
  const [full, scheme = '', user = '', password = '', host = '', path = ''] = parts
  const problem = isFull ? undefined : describeBaseUrlProblem(full)
  check(!problem, `${name} ${problem}`)
  check(
    isFull || !(apiKey ? endsWithOurKey : endsWithKey).test(full),
    `${name} ends with a key, so it is a full URL. Pass it as url, without apiKey.`,
  )
  check(
    name !== 'baseUrl' || !full.endsWith('/v2'),
    'baseUrl ends with "/v2", which is added to it. Remove it, or pass the full URL as url.',
  )

  const longestFirst = path.split(/[/?&=]/).sort((a, b) => b.length - a.length)
  const basic = isFull ? encodeBasic(user, password) : ''
  const url = isFull ? scheme + host + path : full + (name === 'baseUrl' ? '/v2/' : '/')
  const redact = (key: unknown): string => {
    if (!isFull) return url + lastFour(key)
    return scheme + host + (longestFirst[0] ? '/' + lastFour(longestFirst[0]) : '')
  }
  const written = isFull ? [...longestFirst, user, password] : []
  const urlSecrets = [...written, ...written.map(decode), basic].filter((part) => part.length >= MIN_MASKED_LENGTH)

  const authorizedBy = jwt === undefined ? (basic ? 'the URL' : undefined) : 'jwt'
  const checkHeaders = (value: unknown): Record<string, string> => checkRequestHeaders(value, authorizedBy)
  const fixedHeaders = typeof headers === 'function' ? undefined : checkHeaders(headers)
  if (!isFull && typeof apiKey !== 'function') checkSecret('apiKey', apiKey, name, url)
  if (jwt !== undefined && typeof jwt !== 'function') checkSecret('jwt', jwt, name, url)

  let last: RequestTarget | undefined
  let lastInput = ''
  let earlierSecrets: readonly string[] = []
  const createTarget = (key = '', token = '', extra: Record<string, string> = {}): RequestTarget => {
    const input = JSON.stringify([key, token, extra])
    if (last && input === lastInput) return last
    const secrets = [key, token, ...findHeaderSecrets(extra)]
    // The current secrets and those of the URL are always masked. Of the rotated ones, the most recent are.
    const earlier = earlierSecrets.filter((secret) => !secrets.includes(secret)).slice(0, MAX_EARLIER_SECRETS)
    earlierSecrets = [...secrets, ...earlier]
    const authorization = token ? `Bearer ${token}` : basic && `Basic ${basic}`
    lastInput = input
    last = {
      url: url + key,
      redactedUrl: redact(key),
      headers: {
        'content-type': 'application/json',
        ...getUserAgentHeader(),
        ...(authorization && { authorization }),
        ...extra,
      },
      secrets: [...earlierSecrets, ...urlSecrets],
    }
    return last
  }

  const readSecret = async (option: string, secret: Secret | undefined): Promise<string | undefined> =>
    typeof secret === 'function' ? checkSecret(option, await callOption(option, secret), name, url) : secret
  const readHeaders = async (): Promise<Record<string, string>> =>
    typeof headers === 'function' ? checkHeaders(await callOption('headers', headers)) : (fixedHeaders ?? {})
  const readTarget = async (): Promise<RequestTarget> =>
    createTarget(...(await Promise.all([readSecret('apiKey', apiKey), readSecret('jwt', jwt), readHeaders()])))
  const fixed =
    typeof apiKey !== 'function' && typeof jwt !== 'function' && fixedHeaders
      ? createTarget(apiKey, jwt, fixedHeaders)
      : undefined
  return { redactedUrl: redact(apiKey), chainId, getTarget: () => fixed ?? readTarget() }
}
