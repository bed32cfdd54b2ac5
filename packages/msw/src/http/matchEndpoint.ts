import { checkNetwork, describeUrlProblem, selectUrl } from '@keyrail/core/internal'
import type { EndpointUrlOptions, Secret } from '@keyrail/core'
import { providerError, serviceError } from '../faults/providers.ts'
import type { ProviderError, ProviderName } from '../faults/providers.ts'
import { describeValue, invalidInput } from '../invalidInput.ts'

/** Recognizes and checks the requests to one endpoint of a mock node. */
export interface MatchedEndpoint {
  /** Whether a request with this URL is meant for the endpoint, even if its key or path is wrong. */
  readonly matches: (url: string) => boolean
  /** Checks path, key and token. Returns the error response for a request to reject, undefined for an accepted one. */
  readonly checkRequest: (request: Request, provider: ProviderName) => Promise<ProviderError | undefined>
  /** The URLs of WebSocket connections that are meant for the endpoint, without their query. */
  readonly socketUrl: RegExp
  /** Checks the path and the key of a WebSocket connection, given as an http URL. Returns the reason of a rejection. */
  readonly checkSocket: (url: string, provider: ProviderName) => Promise<string | undefined>
}

const pathShapes = 'POST /{network}/v2/{app key} or POST /{network}/{API key}'
/** The forms of an endpoint, for error messages. */
const endpointExamples = '{ url }, { baseUrl, apiKey } or { rpcUrl, apiKey }'

function parseUrl(name: string, url: unknown, network: string | undefined): URL {
  try {
    const parsed = new URL(url as string)
    if (/^https?:$/.test(parsed.protocol)) return parsed
  } catch {
    // The error below leaves out the URL, because it may contain a key.
  }
  throw invalidInput(`${name} ${describeUrlProblem(url, network)}`)
}

const withoutQuery = (url: URL): string => url.origin + url.pathname.replace(/\/$/, '')

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

async function resolveSecret(name: string, secret: Secret): Promise<string> {
  try {
    return typeof secret === 'function' ? await secret() : secret
  } catch {
    // No cause: the error that the function threw may contain the secret.
    throw invalidInput(`The ${name} function failed. Return a string`)
  }
}

/** Checks that the options hold one form of an endpoint, and returns the name of its URL option. */
function checkForm(options: EndpointUrlOptions): 'url' | 'baseUrl' | 'rpcUrl' {
  if (Object(options) !== options)
    throw invalidInput(`The endpoint is ${describeValue(options)}. Pass ${endpointExamples}`)
  const { apiKey } = options
  const given = (['url', 'baseUrl', 'rpcUrl'] as const).filter((name) => options[name] !== undefined)
  const [name] = given
  if (name === undefined || given.length > 1 || (name === 'url') !== (apiKey === undefined)) {
    const found = [...given, ...(apiKey === undefined ? [] : ['apiKey'])].join(' and ')
    throw invalidInput(`The endpoint has ${found || 'no URL'}. Pass ${endpointExamples}`)
  }
  if (apiKey === '') throw invalidInput('apiKey is empty. Is the environment variable set?')
  if (typeof apiKey === 'string' && apiKey.includes('/'))
    throw invalidInput('apiKey contains "/". If it is the full URL, pass it as url')
  return name
}

/**
 * Parses the options of an endpoint. If the key is a function, it is called for each request, as the SDK does.
 *
 * @throws {KeyrailError} kind `invalidRequest`, with the option and how to fix it.
 */
export function matchEndpoint(options: EndpointUrlOptions): MatchedEndpoint {
  const name = checkForm(options)
  const { apiKey, network, jwt } = options
  const checkToken = async (request: Request, provider: ProviderName): Promise<ProviderError | undefined> => {
    if (jwt === undefined || request.headers.get('authorization') === `Bearer ${await resolveSecret('jwt', jwt)}`)
      return undefined
    return provider === 'keyrail'
      ? serviceError(401, -32_016, 'invalid JWT: expired', 'jwt_invalid')
      : providerError(provider, 'auth')
  }

  checkNetwork(network)
  const expected = parseUrl(name, selectUrl(name, options[name], network), network)
  const base = withoutQuery(expected)
  const socketBase = base.replace(/^http/, 'ws').replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  if (name === 'url') {
    return {
      matches(url) {
        const actual = new URL(url)
        return withoutQuery(actual) === base && actual.search === expected.search
      },
      checkRequest: checkToken,
      socketUrl: new RegExp(`^${socketBase}/?$`),
      checkSocket: async (url) => (new URL(url).search === expected.search ? undefined : 'key_unknown'),
    }
  }

  const pathAfterBase = (url: string): string | undefined => {
    const path = withoutQuery(new URL(url))
    return path === base || path.startsWith(`${base}/`) ? path.slice(base.length + 1) : undefined
  }
  const isApp = name === 'baseUrl'
  const checkKey = async (url: string, provider: ProviderName): Promise<ProviderError | undefined> => {
    const keyPath = /^(v2\/)?([^/]+)$/.exec(pathAfterBase(url) ?? '')
    const key = await resolveSecret('apiKey', apiKey as Secret)
    if (keyPath !== null && decoded(keyPath[2] as string) === key) {
      if ((keyPath[1] !== undefined) === isApp) return undefined
      return provider === 'keyrail'
        ? serviceError(
            401,
            -32_016,
            isApp ? `This is an app's key: use POST {baseUrl}/v2/{key}` : 'This is an API key: use POST {rpcUrl}/{key}',
            'key_wrong_path',
          )
        : providerError(provider, 'auth')
    }
    if (keyPath === null && provider === 'keyrail')
      return serviceError(404, -32_001, `Not found: use ${pathShapes}`, 'not_found')
    return providerError(provider, 'auth')
  }

  return {
    matches: (url) => pathAfterBase(url) !== undefined,
    checkRequest: async (request, provider) =>
      (await checkKey(request.url, provider)) ?? (await checkToken(request, provider)),
    socketUrl: new RegExp(`^${socketBase}(?:/|$)`),
    async checkSocket(url, provider) {
      const rejection = await checkKey(url, provider)
      if (rejection === undefined) return undefined
      const { reason = 'unauthorized' } = Object(rejection.error?.data) as { readonly reason?: string }
      return reason
    },
  }
}
