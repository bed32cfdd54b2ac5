import { createSecureContext } from 'node:tls'
import { checkWebSocket } from './checkWebSocket.ts'
import { defaultLimits, defaultMaxLagBlocks, defaultUnknownKeys } from './gatewayOptions.ts'
import type { GatewayLimits, GatewayOptions, WebSocketOptions } from './gatewayOptions.ts'
import { createClientIp } from '../lib/ip/clientIp.ts'
import type { ClientIp } from '../lib/ip/clientIp.ts'
import { parsePublicUrl } from '../lib/publicUrl.ts'
import type { KeyStore } from '../auth/key/keyStore.ts'
import type { LogEntry } from './log.ts'
import { describeUnknownMethod, isWeightedMethod, maxWeight, normalizeWeights } from './method/weights.ts'
import type { MethodWeights } from './method/weights.ts'
import { checkInteger, checkSwitch, getMembers, maxMs } from './checkOption.ts'
import { checkUpstreams } from './checkUpstreamOptions.ts'
import type { CheckedUpstream } from './checkUpstreamOptions.ts'
import { isNetworkName, networkNameRule } from '../lib/network.ts'
import type { Network } from '../lib/network.ts'
import type { LoadBalancing } from './upstream/upstreamOptions.ts'

/** Checked options of one network. */
export interface CheckedNetwork {
  readonly chainId: number
  readonly aliases: readonly string[]
  readonly upstreams: readonly CheckedUpstream[]
  readonly loadBalancing: LoadBalancing
  readonly maxLagBlocks: number
  readonly hedgeMs: number | 'p95' | undefined
  readonly splitLogs: boolean
}

/** Checked options of a gateway, with defaults. */
export interface CheckedOptions {
  readonly networks: ReadonlyMap<Network, CheckedNetwork>
  readonly networkHosts: string | undefined
  readonly keys: KeyStore
  readonly publicUrl: string | undefined
  readonly services: Required<NonNullable<GatewayOptions['services']>>
  readonly unsafeNodeMethods: boolean
  readonly limits: Required<GatewayLimits>
  readonly webSocket: Required<WebSocketOptions>
  readonly usageLimits: GatewayOptions['usageLimits']
  /** Without those of 1. */
  readonly weights: MethodWeights
  readonly quotaStatus: 403 | 429
  readonly meter: GatewayOptions['meter']
  readonly unknownKeys: NonNullable<GatewayOptions['unknownKeys']>
  readonly clientIp: ClientIp
  readonly testKeys: boolean
  readonly now: () => number
  readonly compression: boolean
  readonly tls: GatewayOptions['tls']
  readonly fallback: GatewayOptions['fallback']
  readonly degraded: GatewayOptions['degraded']
  readonly notReady: GatewayOptions['notReady']
  readonly logRequests: boolean
  readonly log: ((entry: LogEntry) => void) | undefined
}

/** A body becomes one string, and Node's longest string has 512 MiB. */
const maxBytes = 256 * 1024 * 1024

const maximums: Readonly<Record<keyof GatewayLimits, number>> = {
  maxBodyBytes: maxBytes,
  maxBatchCalls: 100_000,
  maxJsonDepth: 1_000,
  maxResponseBytes: maxBytes,
  maxBufferedBytes: Number.MAX_SAFE_INTEGER,
  upstreamTimeoutMs: maxMs,
  headersTimeoutMs: maxMs,
  requestTimeoutMs: maxMs,
  writeTimeoutMs: maxMs,
  maxConnections: 1_000_000,
  maxCacheBytes: 64 * maxBytes,
  maxFilters: 100_000,
}

/** The minimums that are not 1. */
const minimums: Readonly<Partial<Record<keyof GatewayLimits, number>>> = { maxCacheBytes: 0, maxJsonDepth: 8 }

/**
 * Checks a gateway's options. An option that is `undefined` has its default, and an unknown name is rejected.
 * @throws {TypeError} If an option is invalid. The message names the option and the fix. It does not repeat the value, which may be a secret.
 */
export const checkGatewayOptions = (given: GatewayOptions): CheckedOptions => {
  const options = getMembers(given, '', [
    'networks',
    'networkHosts',
    'keys',
    'publicUrl',
    'services',
    'unsafeNodeMethods',
    'limits',
    'webSocket',
    'usageLimits',
    'weights',
    'quotaStatus',
    'meter',
    'unknownKeys',
    'trustedProxies',
    'testKeys',
    'now',
    'compression',
    'tls',
    'fallback',
    'degraded',
    'notReady',
    'logRequests',
    'log',
  ])
  const services = getMembers(orEmpty(options['services']), 'services', [
    'debug',
    'trace',
    'txpool',
    'javascriptTracers',
  ])
  return {
    networks: checkNetworks(options['networks']),
    networkHosts: checkNetworkHosts(options['networkHosts']),
    keys: checkKeys(options['keys']),
    publicUrl: parsePublicUrl(given.publicUrl),
    services: {
      debug: checkSwitch(services['debug'], 'services.debug'),
      trace: checkSwitch(services['trace'], 'services.trace'),
      txpool: checkSwitch(services['txpool'], 'services.txpool'),
      javascriptTracers: checkSwitch(services['javascriptTracers'], 'services.javascriptTracers'),
    },
    unsafeNodeMethods: checkSwitch(options['unsafeNodeMethods'], 'unsafeNodeMethods'),
    limits: checkLimits(options['limits']),
    webSocket: checkWebSocket(options['webSocket']),
    usageLimits: checkPart(options['usageLimits'], 'usageLimits', [
      'take',
      'giveBack',
      'peek',
    ]) as GatewayOptions['usageLimits'],
    weights: checkWeights(options['weights']),
    quotaStatus: checkQuotaStatus(options['quotaStatus']),
    meter: checkPart(options['meter'], 'meter', ['count']) as GatewayOptions['meter'],
    unknownKeys: checkUnknownKeys(options['unknownKeys']),
    clientIp: checkTrustedProxies(options['trustedProxies']),
    testKeys: checkSwitch(options['testKeys'], 'testKeys'),
    now: (checkFunction(options['now'], 'now') as GatewayOptions['now']) ?? Date.now,
    compression: checkSwitch(options['compression'], 'compression', true),
    tls: checkTls(options['tls']),
    fallback: checkFunction(options['fallback'], 'fallback') as GatewayOptions['fallback'],
    degraded: checkFunction(options['degraded'], 'degraded') as GatewayOptions['degraded'],
    notReady: checkFunction(options['notReady'], 'notReady') as GatewayOptions['notReady'],
    logRequests: checkSwitch(options['logRequests'], 'logRequests', true) && options['log'] !== undefined,
    log: checkFunction(options['log'], 'log') as GatewayOptions['log'],
  }
}

/** Only `undefined` means a missing object: null is a mistake. */
const orEmpty = (value: unknown): unknown => (value === undefined ? {} : value)

const checkNetworks = (given: unknown): ReadonlyMap<Network, CheckedNetwork> => {
  const entries = typeof given === 'object' && given !== null && !Array.isArray(given) ? Object.entries(given) : []
  if (entries.length === 0)
    throw new TypeError('networks must be an object with at least one network, by its name, such as "ethereum-mainnet"')
  const networks = new Map<Network, CheckedNetwork>()
  const names = new Set(entries.map(([name]) => name))
  for (const [name, options] of entries) {
    if (!isNetworkName(name)) throw new TypeError(`a name in networks ${networkNameRule}`)
    const network = checkNetwork(name, options as unknown)
    for (const alias of network.aliases) {
      if (names.has(alias))
        throw new TypeError(`networks.${name}.aliases has the name of another network or an alias twice: remove it`)
      names.add(alias)
    }
    networks.set(name, network)
  }
  return networks
}

const checkAliases = (aliases: unknown, option: string): readonly string[] => {
  if (aliases === undefined) return []
  if (!Array.isArray(aliases) || !aliases.every((alias) => typeof alias === 'string' && isNetworkName(alias)))
    throw new TypeError(`${option} must be a list of names. A name ${networkNameRule}`)
  return [...(aliases as string[])]
}

const checkNetworkHosts = (hosts: unknown): string | undefined => {
  if (hosts === undefined) return undefined
  if (typeof hosts !== 'string' || !/^\{network\}(?:\.[a-z0-9-]+)+$/i.test(hosts))
    throw new TypeError(
      'networkHosts must be a host name that starts with {network}, as in "{network}.rpc.example.org"',
    )
  return hosts
}

const checkNetwork = (network: Network, options: unknown): CheckedNetwork => {
  const option = `networks.${network}`
  const known = ['chainId', 'aliases', 'upstreams', 'loadBalancing', 'maxLagBlocks', 'hedgeMs', 'splitLogs']
  const {
    chainId,
    aliases,
    upstreams,
    loadBalancing = 'order',
    maxLagBlocks = defaultMaxLagBlocks,
    hedgeMs,
    splitLogs = true,
  } = getMembers(options, option, known)
  if (loadBalancing !== 'order' && loadBalancing !== 'spread')
    throw new TypeError(`${option}.loadBalancing must be 'order' or 'spread'`)
  return {
    chainId: checkInteger(chainId, `${option}.chainId`, Number.MAX_SAFE_INTEGER),
    aliases: checkAliases(aliases, `${option}.aliases`),
    loadBalancing,
    maxLagBlocks: checkInteger(maxLagBlocks, `${option}.maxLagBlocks`, Number.MAX_SAFE_INTEGER),
    hedgeMs: checkHedge(hedgeMs, `${option}.hedgeMs`),
    splitLogs: checkSwitch(splitLogs, `${option}.splitLogs`),
    upstreams: checkUpstreams(upstreams, network, loadBalancing),
  }
}

const checkHedge = (hedgeMs: unknown, option: string): number | 'p95' | undefined => {
  if (hedgeMs === undefined || hedgeMs === 'p95') return hedgeMs
  if (typeof hedgeMs === 'number' && Number.isSafeInteger(hedgeMs) && hedgeMs >= 1 && hedgeMs <= maxMs) return hedgeMs
  throw new TypeError(`${option} must be a whole number from 1 to ${maxMs}, or 'p95'`)
}

/** Checks a part of the service. Its class does not matter, only its functions do. */
const checkPart = (part: unknown, option: string, functions: readonly string[]): unknown => {
  if (part === undefined) return undefined
  const members = part as Readonly<Record<string, unknown>> | null
  if (members === null || functions.some((name) => typeof members[name] !== 'function'))
    throw new TypeError(`${option} must be an object with ${functions.map((name) => `${name}()`).join(', ')}`)
  return part
}

const checkWeights = (weights: unknown): MethodWeights => {
  if (weights === undefined) return {}
  const entries = typeof weights === 'object' && weights !== null ? Object.entries(weights) : undefined
  const isValid = ([, weight]: [string, unknown]): boolean =>
    Number.isSafeInteger(weight) && (weight as number) >= 1 && (weight as number) <= maxWeight
  if (entries === undefined || !entries.every(isValid))
    throw new TypeError(`weights must be an object of whole numbers from 1 to ${maxWeight}, by method`)
  const unknown = entries.find(([name]) => !isWeightedMethod(name))
  if (unknown !== undefined) throw new TypeError(`weights ${describeUnknownMethod(unknown[0])}`)
  return normalizeWeights(Object.fromEntries(entries) as Record<string, number>)
}

const checkQuotaStatus = (status: unknown): 403 | 429 => {
  if (status === undefined || status === 403) return 403
  if (status !== 429) throw new TypeError('quotaStatus must be 403 or 429')
  return 429
}

const maxRate = 1_000_000

const checkUnknownKeys = (given: unknown): CheckedOptions['unknownKeys'] => {
  if (given === undefined) return defaultUnknownKeys
  const { perSecond, burst } = getMembers(given, 'unknownKeys', ['perSecond', 'burst'])
  return {
    perSecond: checkInteger(perSecond, 'unknownKeys.perSecond', maxRate),
    burst: checkInteger(burst, 'unknownKeys.burst', maxRate),
  }
}

const checkTrustedProxies = (given: unknown): ClientIp => {
  if (given === undefined) return createClientIp([])
  if (!Array.isArray(given) || Array.from<unknown>(given).some((each) => typeof each !== 'string'))
    throw new TypeError("trustedProxies must be a list of addresses and ranges, such as ['10.0.0.0/8']")
  return createClientIp(given as readonly string[])
}

const checkKeys = (keys: unknown): KeyStore => {
  // A store may be an instance of a class, or a function.
  if (keys === undefined || keys === null || typeof (keys as Partial<KeyStore>).find !== 'function')
    throw new TypeError('keys must be a key store, an object with find(hash): create one with createMemoryKeyStore')
  return keys as KeyStore
}

const checkTls = (given: unknown): GatewayOptions['tls'] => {
  if (given === undefined) return undefined
  const { cert, key } = getMembers(given, 'tls', ['cert', 'key'])
  const isPem = (value: unknown): value is string | Buffer => typeof value === 'string' || Buffer.isBuffer(value)
  try {
    if (isPem(cert) && isPem(key)) {
      createSecureContext({ cert, key })
      return { cert, key }
    }
  } catch {
    // OpenSSL's messages do not help.
  }
  throw new TypeError('tls must be a certificate chain (cert) and its own private key (key), both PEM')
}

const checkFunction = (value: unknown, option: string): unknown => {
  if (value !== undefined && typeof value !== 'function') throw new TypeError(`${option} must be a function`)
  return value
}

const checkLimits = (given: unknown): Required<GatewayLimits> => {
  const names = Object.keys(defaultLimits) as (keyof GatewayLimits)[]
  const members = getMembers(orEmpty(given), 'limits', names)
  const checkLimit = (name: keyof GatewayLimits, defaultValue: number = defaultLimits[name]): number => {
    const value = members[name]
    return value === undefined ? defaultValue : checkInteger(value, `limits.${name}`, maximums[name], minimums[name])
  }
  const requestTimeoutMs = checkLimit('requestTimeoutMs')
  const headersTimeoutMs = checkLimit('headersTimeoutMs', Math.min(defaultLimits.headersTimeoutMs, requestTimeoutMs))
  if (headersTimeoutMs > requestTimeoutMs)
    throw new TypeError('limits.headersTimeoutMs must be at most limits.requestTimeoutMs, which includes it')
  return {
    maxBodyBytes: checkLimit('maxBodyBytes'),
    maxBatchCalls: checkLimit('maxBatchCalls'),
    maxJsonDepth: checkLimit('maxJsonDepth'),
    maxResponseBytes: checkLimit('maxResponseBytes'),
    maxBufferedBytes: checkLimit('maxBufferedBytes'),
    upstreamTimeoutMs: checkLimit('upstreamTimeoutMs'),
    headersTimeoutMs,
    requestTimeoutMs,
    writeTimeoutMs: checkLimit('writeTimeoutMs'),
    maxConnections: checkLimit('maxConnections'),
    maxCacheBytes: checkLimit('maxCacheBytes'),
    maxFilters: checkLimit('maxFilters'),
  }
}
