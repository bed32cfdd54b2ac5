import { createSecureContext } from 'node:tls'
import { defaultLimits, defaultMaxLagBlocks, defaultUnknownKeys } from './gatewayOptions.ts'
import type { GatewayLimits, GatewayOptions } from './gatewayOptions.ts'
import { createClientIp } from '../lib/ip/clientIp.ts'
import type { ClientIp } from '../lib/ip/clientIp.ts'
import { parsePublicUrl } from '../lib/publicUrl.ts'
import type { KeyStore } from '../auth/key/keyStore.ts'
import type { LogEntry } from './log.ts'
import { networkNames } from '../lib/network.ts'
import type { Network } from '../lib/network.ts'

/** One network's nodes, read. */
export interface CheckedNetwork {
  readonly chainId: number
  readonly upstreams: readonly { readonly name: string; readonly address: URL }[]
  readonly maxLagBlocks: number
  readonly hedgeMs: number | undefined
}

/** A gateway's options, each known to be good, the defaults filled in. */
export interface CheckedOptions {
  readonly networks: Readonly<Record<Network, CheckedNetwork>>
  readonly keys: KeyStore
  readonly publicUrl: string | undefined
  readonly services: { readonly debug: boolean; readonly trace: boolean; readonly javascriptTracers: boolean }
  readonly unsafeNodeMethods: boolean
  readonly limits: Required<GatewayLimits>
  readonly rates: GatewayOptions['rates']
  readonly quota: GatewayOptions['quota']
  readonly quotaStatus: 403 | 429
  readonly meter: GatewayOptions['meter']
  readonly unknownKeys: NonNullable<GatewayOptions['unknownKeys']>
  readonly clientIp: ClientIp
  readonly testKeys: boolean
  readonly now: () => number
  readonly tls: GatewayOptions['tls']
  readonly elsewhere: GatewayOptions['elsewhere']
  readonly degraded: GatewayOptions['degraded']
  readonly notReady: GatewayOptions['notReady']
  readonly logRequests: boolean
  readonly log: ((entry: LogEntry) => void) | undefined
}

/** A body is made into one string, and Node's strings end at 512 MiB. */
const mostBytes = 256 * 1024 * 1024
/** A longer timer would fire at once. */
const longestMs = 2_147_483_647

const mostOf: Readonly<Record<keyof GatewayLimits, number>> = {
  maxBodyBytes: mostBytes,
  maxBatchCalls: 100_000,
  maxJsonDepth: 1_000,
  maxResponseBytes: mostBytes,
  maxBufferedBytes: Number.MAX_SAFE_INTEGER,
  upstreamTimeoutMs: longestMs,
  headersTimeoutMs: longestMs,
  requestTimeoutMs: longestMs,
  writeTimeoutMs: longestMs,
  maxConnections: 1_000_000,
  maxCacheBytes: 64 * mostBytes,
  maxFilters: 100_000,
}

/** Of those that may not be as low as 1, or may be lower. */
const leastOf: Readonly<Partial<Record<keyof GatewayLimits, number>>> = { maxCacheBytes: 0, maxJsonDepth: 8 }

/**
 * Reads a gateway's options with distrust: an option that is `undefined` has its default, a name that is not known is rejected.
 * @throws {TypeError} where one is wrong. The message names the option and the fix, and repeats no value: it may be a secret.
 */
export const checkGatewayOptions = (given: GatewayOptions): CheckedOptions => {
  const options = membersOf(given, '', [
    'networks',
    'keys',
    'publicUrl',
    'services',
    'unsafeNodeMethods',
    'limits',
    'rates',
    'quota',
    'quotaStatus',
    'meter',
    'unknownKeys',
    'trustedProxies',
    'testKeys',
    'now',
    'tls',
    'elsewhere',
    'degraded',
    'notReady',
    'logRequests',
    'log',
  ])
  const networks = membersOf(options['networks'], 'networks', networkNames)
  const services = membersOf(orEmpty(options['services']), 'services', ['debug', 'trace', 'javascriptTracers'])
  return {
    networks: { testnet: checkNetwork(networks, 'testnet'), mainnet: checkNetwork(networks, 'mainnet') },
    keys: checkKeys(options['keys']),
    publicUrl: parsePublicUrl(given.publicUrl),
    services: {
      debug: checkSwitch(services['debug'], 'services.debug'),
      trace: checkSwitch(services['trace'], 'services.trace'),
      javascriptTracers: checkSwitch(services['javascriptTracers'], 'services.javascriptTracers'),
    },
    unsafeNodeMethods: checkSwitch(options['unsafeNodeMethods'], 'unsafeNodeMethods'),
    limits: checkLimits(options['limits']),
    rates: checkPart(options['rates'], 'rates', ['take']) as GatewayOptions['rates'],
    quota: checkPart(options['quota'], 'quota', ['take', 'giveBack']) as GatewayOptions['quota'],
    quotaStatus: checkQuotaStatus(options['quotaStatus']),
    meter: checkPart(options['meter'], 'meter', ['count']) as GatewayOptions['meter'],
    unknownKeys: checkUnknownKeys(options['unknownKeys']),
    clientIp: checkTrustedProxies(options['trustedProxies']),
    testKeys: checkSwitch(options['testKeys'], 'testKeys'),
    now: (checkFunction(options['now'], 'now') as GatewayOptions['now']) ?? Date.now,
    tls: checkTls(options['tls']),
    elsewhere: checkFunction(options['elsewhere'], 'elsewhere') as GatewayOptions['elsewhere'],
    degraded: checkFunction(options['degraded'], 'degraded') as GatewayOptions['degraded'],
    notReady: checkFunction(options['notReady'], 'notReady') as GatewayOptions['notReady'],
    logRequests:
      (options['logRequests'] === undefined || checkSwitch(options['logRequests'], 'logRequests')) &&
      options['log'] !== undefined,
    log: checkFunction(options['log'], 'log') as GatewayOptions['log'],
  }
}

/** Nothing but `undefined` stands for an object left out: null is a mistake. */
const orEmpty = (value: unknown): unknown => (value === undefined ? {} : value)

/** A name as it may stand in a message: whoever mixed up name and value may have put a URL or a key there. */
const shownName = (name: string): string => (/^[A-Za-z]{1,40}$/.test(name) ? ` '${name}'` : '')

const membersOf = (value: unknown, option: string, known: readonly string[]): Readonly<Record<string, unknown>> => {
  const of = option === '' ? 'the options' : option
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError(`${of} must be an object with ${known.join(', ')}`)
  const unknown = Object.keys(value).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new TypeError(`unknown name${shownName(unknown)} in ${of}: known are ${known.join(', ')}`)
  return value as Readonly<Record<string, unknown>>
}

const checkWhole = (value: unknown, option: string, most: number, least = 1): number => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least || value > most)
    throw new TypeError(`${option} must be a whole number from ${least} to ${most}`)
  return value
}

const checkSwitch = (value: unknown, option: string): boolean => {
  if (value !== undefined && typeof value !== 'boolean') throw new TypeError(`${option} must be true or false`)
  return value ?? false
}

const checkNetwork = (networks: Readonly<Record<string, unknown>>, network: Network): CheckedNetwork => {
  const option = `networks.${network}`
  const known = ['chainId', 'upstreams', 'maxLagBlocks', 'hedgeMs']
  const {
    chainId,
    upstreams,
    maxLagBlocks = defaultMaxLagBlocks,
    hedgeMs,
  } = membersOf(networks[network], option, known)
  if (!Array.isArray(upstreams) || upstreams.length === 0)
    throw new TypeError(
      `${option}.upstreams must be a list of at least one node, as in [{ url: 'http://127.0.0.1:8545' }]`,
    )
  return {
    chainId: checkWhole(chainId, `${option}.chainId`, Number.MAX_SAFE_INTEGER),
    maxLagBlocks: checkWhole(maxLagBlocks, `${option}.maxLagBlocks`, Number.MAX_SAFE_INTEGER),
    hedgeMs: hedgeMs === undefined ? undefined : checkWhole(hedgeMs, `${option}.hedgeMs`, longestMs),
    // Array.from, as map would leave the holes of a sparse list unseen.
    upstreams: Array.from<unknown, CheckedNetwork['upstreams'][number]>(upstreams, (upstream, index) => {
      const place = `${option}.upstreams[${index}]`
      const { url, name = `${network}-${index + 1}` } = membersOf(upstream, place, ['url', 'name'])
      if (typeof name !== 'string' || name.trim() === '' || name.includes('/'))
        throw new TypeError(`${place}.name must be a name for logs, not empty and without a '/'`)
      return { name, address: checkUpstreamUrl(url, `${place}.url`) }
    }),
  }
}

const checkUpstreamUrl = (url: unknown, option: string): URL => {
  const address = typeof url === 'string' ? URL.parse(url) : null
  if (address === null || (address.protocol !== 'http:' && address.protocol !== 'https:'))
    throw new TypeError(`${option} is not an http or https URL`)
  return address
}

/** A part of the service: whose class it is does not matter, only what is called of it. */
const checkPart = (part: unknown, option: string, functions: readonly string[]): unknown => {
  if (part === undefined) return undefined
  const members = part as Readonly<Record<string, unknown>> | null
  if (members === null || functions.some((name) => typeof members[name] !== 'function'))
    throw new TypeError(`${option} must be an object with ${functions.map((name) => `${name}()`).join(', ')}`)
  return part
}

const checkQuotaStatus = (status: unknown): 403 | 429 => {
  if (status === undefined || status === 403) return 403
  if (status !== 429) throw new TypeError('quotaStatus must be 403 or 429')
  return 429
}

const mostAtOnce = 1_000_000

const checkUnknownKeys = (given: unknown): CheckedOptions['unknownKeys'] => {
  if (given === undefined) return defaultUnknownKeys
  const { perSecond, burst } = membersOf(given, 'unknownKeys', ['perSecond', 'burst'])
  return {
    perSecond: checkWhole(perSecond, 'unknownKeys.perSecond', mostAtOnce),
    burst: checkWhole(burst, 'unknownKeys.burst', mostAtOnce),
  }
}

const checkTrustedProxies = (given: unknown): ClientIp => {
  if (given === undefined) return createClientIp([])
  if (!Array.isArray(given) || Array.from<unknown>(given).some((each) => typeof each !== 'string'))
    throw new TypeError("trustedProxies must be a list of addresses and ranges, as in ['10.0.0.0/8']")
  return createClientIp(given as readonly string[])
}

const checkKeys = (keys: unknown): KeyStore => {
  // A store may be an instance of a class, or a function: only what is called of it matters.
  if (keys === undefined || keys === null || typeof (keys as Partial<KeyStore>).find !== 'function')
    throw new TypeError('keys must be a key store, an object with find(hash): make one with createMemoryKeyStore')
  return keys as KeyStore
}

const checkTls = (given: unknown): GatewayOptions['tls'] => {
  if (given === undefined) return undefined
  const { cert, key } = membersOf(given, 'tls', ['cert', 'key'])
  const isPem = (value: unknown): value is string | Buffer => typeof value === 'string' || Buffer.isBuffer(value)
  try {
    if (isPem(cert) && isPem(key)) {
      createSecureContext({ cert, key })
      return { cert, key }
    }
  } catch {
    // OpenSSL's reasons are for those who know OpenSSL.
  }
  throw new TypeError('tls must be a certificate chain (cert) and its own private key (key), both PEM')
}

const checkFunction = (value: unknown, option: string): unknown => {
  if (value !== undefined && typeof value !== 'function') throw new TypeError(`${option} must be a function`)
  return value
}

const checkLimits = (given: unknown): Required<GatewayLimits> => {
  const names = Object.keys(defaultLimits) as (keyof GatewayLimits)[]
  const members = membersOf(orEmpty(given), 'limits', names)
  const limit = (name: keyof GatewayLimits, byDefault: number = defaultLimits[name]): number => {
    const value = members[name]
    return value === undefined ? byDefault : checkWhole(value, `limits.${name}`, mostOf[name], leastOf[name])
  }
  const requestTimeoutMs = limit('requestTimeoutMs')
  const headersTimeoutMs = limit('headersTimeoutMs', Math.min(defaultLimits.headersTimeoutMs, requestTimeoutMs))
  if (headersTimeoutMs > requestTimeoutMs)
    throw new TypeError('limits.headersTimeoutMs must not be above limits.requestTimeoutMs, which includes it')
  return {
    maxBodyBytes: limit('maxBodyBytes'),
    maxBatchCalls: limit('maxBatchCalls'),
    maxJsonDepth: limit('maxJsonDepth'),
    maxResponseBytes: limit('maxResponseBytes'),
    maxBufferedBytes: limit('maxBufferedBytes'),
    upstreamTimeoutMs: limit('upstreamTimeoutMs'),
    headersTimeoutMs,
    requestTimeoutMs,
    writeTimeoutMs: limit('writeTimeoutMs'),
    maxConnections: limit('maxConnections'),
    maxCacheBytes: limit('maxCacheBytes'),
    maxFilters: limit('maxFilters'),
  }
}
