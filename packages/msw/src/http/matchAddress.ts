import { urlProblem } from '@keyrail/core/internal'
import type { AddressOptions, PerNetwork, Secret } from '@keyrail/core'
import { dialectAnswer, service } from '../faults/dialects.ts'
import type { DialectAnswer, Personality } from '../faults/dialects.ts'
import { refused } from '../refused.ts'

/** An address that a mock node answers at. */
export interface MatchedAddress {
  /** Whether a URL is this address, or so near it that who asked must have meant it. */
  readonly isNear: (url: string) => boolean
  /** Why a request is turned away; undefined where it is let in. */
  readonly refuse: (request: Request, personality: Personality) => Promise<DialectAnswer | undefined>
}

const networks = ['testnet', 'mainnet'] as const
const shapes = 'POST /{testnet|mainnet}/v2/{app key} or POST /{testnet|mainnet}/{API key}'

/** Origin, path and query, as `fetch` sends them. */
function wholeOf(name: string, url: string): URL {
  try {
    const parsed = new URL(url)
    if (/^https?:$/.test(parsed.protocol)) return parsed
  } catch {
    // Told below, without the URL: it may hold a key.
  }
  throw refused(`${name} ${urlProblem(url)}`)
}

const placeOf = (url: URL): string => url.origin + url.pathname.replace(/\/$/, '')

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** What a secret's function throws may hold the secret, so it is not told. */
async function secretOf(name: string, secret: Secret): Promise<string> {
  try {
    return typeof secret === 'function' ? await secret() : secret
  } catch {
    throw refused(`the ${name} function failed`)
  }
}

/**
 * Takes an address apart into what is compared with each request. A key that comes from a function is asked for each time, as the SDK does.
 *
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and the mend.
 */
export function matchAddress(options: AddressOptions): MatchedAddress {
  if (Object(options) !== options)
    throw refused('pass an address: { url }, or { baseUrl, apiKey } or { rpcUrl, apiKey }')
  const { apiKey, network, jwt } = options
  const given = (['url', 'baseUrl', 'rpcUrl'] as const).filter((one) => options[one] !== undefined)
  const [name] = given
  if (name === undefined || given.length > 1 || (name === 'url') !== (apiKey === undefined)) {
    throw refused('pass url alone, or baseUrl or rpcUrl with apiKey')
  }
  if (apiKey !== undefined && (apiKey === '' || (typeof apiKey === 'string' && apiKey.includes('/')))) {
    throw refused(`apiKey is empty or holds a '/': did you paste the whole address? pass it as url`)
  }
  const refuseToken = async (request: Request, personality: Personality): Promise<DialectAnswer | undefined> => {
    if (jwt === undefined || request.headers.get('authorization') === `Bearer ${await secretOf('jwt', jwt)}`)
      return undefined
    return personality === 'keyrail'
      ? service(401, -32_016, 'invalid JWT: expired', 'jwt_invalid')
      : dialectAnswer(personality, 'auth')
  }

  if (name === 'url') {
    const whole = wholeOf(name, options.url as string)
    return {
      isNear: (url) => {
        const asked = new URL(url)
        return placeOf(asked) === placeOf(whole) && asked.search === whole.search
      },
      refuse: refuseToken,
    }
  }

  const value = options[name] as PerNetwork
  const isRecord = typeof value !== 'string'
  if (isRecord && (network === undefined || !networks.includes(network))) {
    throw refused(`network must be 'testnet' or 'mainnet'`)
  }
  const ours = placeOf(wholeOf(name, isRecord ? value[network as 'testnet'] : value))
  const others = isRecord
    ? networks.filter((one) => one !== network).map((one) => placeOf(wholeOf(name, value[one])))
    : []
  const restAfter = (base: string, url: string): string | undefined => {
    const place = placeOf(new URL(url))
    return place === base || place.startsWith(`${base}/`) ? place.slice(base.length + 1) : undefined
  }
  const isApp = name === 'baseUrl'

  return {
    isNear: (url) => [ours, ...others].some((base) => restAfter(base, url) !== undefined),
    async refuse(request, personality) {
      const rest = restAfter(ours, request.url)
      const keyed = /^(v2\/)?([^/]+)$/.exec(rest ?? '')
      const key = await secretOf('apiKey', apiKey as Secret)
      if (keyed !== null && decoded(keyed[2] as string) === key) {
        if ((keyed[1] !== undefined) === isApp) return refuseToken(request, personality)
        return personality === 'keyrail'
          ? service(
              401,
              -32_016,
              isApp
                ? `This is an app's key: use POST {baseUrl}/v2/{key}`
                : 'This is an API key: use POST {rpcUrl}/{key}',
              'key_wrong_path',
            )
          : dialectAnswer(personality, 'auth')
      }
      const elsewhere = others.map((base) => restAfter(base, request.url)).find((one) => one !== undefined)
      if (rest === undefined && decoded(elsewhere?.replace(/^v2\//, '') ?? '') === key)
        return dialectAnswer(personality, 'wrongNetwork')
      if (rest !== undefined && keyed === null && personality === 'keyrail') {
        return service(404, -32_001, `Not found: use ${shapes}`, 'not_found')
      }
      return dialectAnswer(personality, 'auth')
    },
  }
}
