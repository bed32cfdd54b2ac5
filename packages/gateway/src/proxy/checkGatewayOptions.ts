import { createSecureContext } from 'node:tls'
import type { KeyStore } from '../auth/key/keyStore.ts'
import { createClientIp } from '../lib/ip/clientIp.ts'
import type { ClientIp } from '../lib/ip/clientIp.ts'
import type { Network } from '../lib/network.ts'
import { parsePublicUrl } from '../lib/publicUrl.ts'
import { checkLimits, checkWeights } from './checkLimits.ts'
import { checkNetworks } from './checkNetworkOptions.ts'
import type { CheckedNetwork } from './checkNetworkOptions.ts'
import { checkInteger, checkSwitch, getMembers } from './checkOption.ts'
import { checkWebSocket } from './checkWebSocket.ts'
import { defaultUnknownKeys } from './gatewayOptions.ts'
import type { GatewayLimits, GatewayOptions, WebSocketOptions } from './gatewayOptions.ts'
import type { LogEntry } from './log.ts'
import type { MethodWeights } from './method/weights.ts'

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
  readonly requestLog: GatewayOptions['requestLog']
  readonly tracer: GatewayOptions['tracer']
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
    'requestLog',
    'tracer',
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
  const limits = checkLimits(options['limits'])
  return {
    networks: checkNetworks(options['networks'], limits),
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
    limits,
    webSocket: checkWebSocket(options['webSocket']),
    usageLimits: checkPart(options['usageLimits'], 'usageLimits', [
      'take',
      'giveBack',
      'peek',
    ]) as GatewayOptions['usageLimits'],
    weights: options['weights'] === undefined ? {} : checkWeights(options['weights'], 'weights'),
    quotaStatus: checkQuotaStatus(options['quotaStatus']),
    meter: checkPart(options['meter'], 'meter', ['count']) as GatewayOptions['meter'],
    requestLog: checkPart(options['requestLog'], 'requestLog', ['admits', 'add']) as GatewayOptions['requestLog'],
    tracer: checkPart(options['tracer'], 'tracer', ['start']) as GatewayOptions['tracer'],
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

const checkNetworkHosts = (hosts: unknown): string | undefined => {
  if (hosts === undefined) return undefined
  if (typeof hosts !== 'string' || !/^\{network\}(?:\.[a-z0-9-]+)+$/i.test(hosts))
    throw new TypeError(
      'networkHosts must be a host name that starts with {network}, as in "{network}.rpc.example.org"',
    )
  return hosts
}

/** Checks a part of the service. Its class does not matter, only its functions do. */
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
