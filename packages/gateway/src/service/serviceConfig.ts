import { z } from 'zod'
import { parseIpRange } from '../lib/ip/ipRange.ts'
import type { GatewayLimits } from '../proxy/gatewayOptions.ts'
import type { KeyLimits } from '../auth/key/keyStore.ts'

const daysLong = 3_650
const dayMs = 24 * 60 * 60 * 1_000
/** Ten minutes: longer than any load balancer takes to notice. */
export const longestDrainDelayMs = 600_000
const mostCalls = 1_000_000_000

/** What is said of a value that is not there, or is not what it must be. */
const must = (what: string) => ({
  error: ({ input }: { readonly input?: unknown }): string => (input === undefined ? `is missing: ${what}` : what),
})

const whole = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`
  return z.number(must(message)).int(message).min(min, message).max(max, message)
}
const calls = () => {
  const message = `must be a whole number from 1 to ${mostCalls}, or null for no limit`
  return z.number(must(message)).int(message).min(1, message).max(mostCalls, message).nullable()
}
const text = (what: string, max = 200) =>
  z.string(must(what)).trim().min(1, what).max(max, `must have at most ${max} characters`)
const onOff = () => z.boolean(must('must be true or false'))
const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, must(`must be ${values.map((value) => `"${value}"`).join(' or ')}`))
const object = <T extends z.core.$ZodLooseShape>(shape: T) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `known are ${Object.keys(shape).join(', ')}`
        : `must be an object with ${Object.keys(shape).join(', ')}`,
  })

const webUrl = (what: string) => z.string(must(what)).refine((given) => isWebUrl(given), what)
const isWebUrl = (given: string): boolean => /^https?:$/.test(URL.parse(given)?.protocol ?? '')
const publicUrl = webUrl('must be the http or https URL at which callers reach the service').refine((given) => {
  const url = URL.parse(given)
  return url !== null && `${url.search}${url.hash}${url.username}${url.password}` === ''
}, 'must have no query, no fragment and no credentials')

const host = () => text('must be an interface to listen on, such as "127.0.0.1" or "0.0.0.0"')
const port = (min = 0) => whole(min, 65_535)
const listen = object({ host: host().default('127.0.0.1'), port: port() })

const upstream = object({
  url: webUrl('must be the http or https URL of a node').exactOptional(),
  urlEnv: text('must be the name of an environment variable that holds the URL').exactOptional(),
  urlFile: text('must be the path of a file that holds the URL', 4_096).exactOptional(),
  name: text('must be a name for logs', 64)
    .refine((name) => !name.includes('/'), "must be a name for logs, without a '/'")
    .exactOptional(),
}).refine(
  ({ url, urlEnv, urlFile }) => [url, urlEnv, urlFile].filter((one) => one !== undefined).length === 1,
  'must have one of url, urlEnv and urlFile',
)

const network = object({
  chainId: whole(1, Number.MAX_SAFE_INTEGER),
  upstreams: z
    .array(upstream, must('must be a list of at least one node, as in [{ "url": "http://127.0.0.1:8545" }]'))
    .min(1, 'must be a list of at least one node, as in [{ "url": "http://127.0.0.1:8545" }]')
    .readonly(),
  maxLagBlocks: whole(1, 1_000_000).exactOptional(),
  hedgeMs: whole(1, 60_000).exactOptional(),
})

const keyLimits = { perSecond: calls(), burst: whole(1, 100_000), perDay: calls(), perMonth: calls() }

/** Where something listens. */
export interface ListenConfig {
  /** An interface of this machine. @default '127.0.0.1' */
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
}

/** One node of a network; exactly one of `url`, `urlEnv` and `urlFile` is given. */
export interface UpstreamConfig {
  /** http or https; may hold a path, a query, user and password. A secret. */
  readonly url?: string
  /** The name of an environment variable that holds the URL. */
  readonly urlEnv?: string
  /** The path of a file that holds the URL. */
  readonly urlFile?: string
  /** What logs and metrics call it. @default the network and its place, as in `testnet-1` */
  readonly name?: string
}

/** One network's nodes. */
export interface NetworkConfig {
  /** What every node must answer to `eth_chainId`; one that answers otherwise is never used. */
  readonly chainId: number
  /** At least one, in the order of preference. */
  readonly upstreams: readonly UpstreamConfig[]
  /** How many blocks a node may be behind the highest of the others. @default 8 */
  readonly maxLagBlocks?: number
  /** A light read without an answer after this many milliseconds is asked of a second node too. @default never */
  readonly hedgeMs?: number
}

/** How a service is configured, every default filled in. Made by `parseServiceConfig`, or from a file by `readServiceConfig`. */
export interface ServiceConfig {
  /** For editors; not read. */
  readonly $schema?: string
  /** Where callers reach the service: addresses are built on it, and the dashboard answers to its host alone. */
  readonly publicUrl: string
  /** @default port 8080 of 127.0.0.1 */
  readonly listen: ListenConfig
  /** Files in PEM: then it speaks https. @default none: a proxy in front does */
  readonly tls?: { readonly certFile: string; readonly keyFile: string }
  /** Moves `/api` and the dashboard to a port of their own. @default they share the networks' */
  readonly control?: { readonly publicUrl: string; readonly listen: ListenConfig }
  /** Where `/metrics` is for Prometheus. @default nowhere */
  readonly prometheus?: ListenConfig
  /** The SQLite file, where there is no `DATABASE_URL`. */
  readonly storage?: { readonly file: string }
  /** The folder of the built dashboard. @default the one that the command brings */
  readonly dashboard?: { readonly folder: string }
  /** Proxies in front whose `X-Forwarded-For` and `X-Request-Id` are believed: addresses and ranges. @default none */
  readonly trustedProxies: readonly string[]
  /** Who may sign up. @default 'closed' */
  readonly signUp: 'open' | 'invite' | 'closed'
  /** Whether keys can be shown again; with `never` no copy of new ones is kept. @default 'onDemand' */
  readonly reveal: 'onDemand' | 'never'
  readonly chain: {
    readonly name: string
    readonly symbol: string
    /** Other names that people look for it by. @default none */
    readonly aliases: readonly string[]
  }
  readonly networks: { readonly testnet: NetworkConfig; readonly mainnet: NetworkConfig }
  /**
   * Which groups of methods are offered beside `eth_`, `net_` and `web3_`, and whether callers may send tracers of their own to them:
   * programs in JavaScript, which run inside the nodes. Never for an app with an address list. @default none of these
   */
  readonly services: { readonly debug: boolean; readonly trace: boolean; readonly javascriptTracers: boolean }
  readonly limits: {
    /** Of all API keys of a user together; `perSecond` and `burst` of each. @default 25,000 a day, 1000 a second with 10,000 at once */
    readonly apiKeys: KeyLimits
    /** Of each app. @default 100 a second with 1000 at once, 100,000 a day, 3,000,000 a month */
    readonly apps: KeyLimits
    /** @default 20 */
    readonly appsPerUser: number
  }
  /** Bounds of what one request may cost: see the gateway's limits. */
  readonly bounds: GatewayLimits
  /** The HTTP status where a quota is used up. @default 403 */
  readonly quotaStatus: 403 | 429
  /** Items that may be granted to an account while PostgreSQL is gone. @default 500 */
  readonly outageGrant: number
  /** How long known keys go on working while the database is gone, in milliseconds. @default 600_000 (10 minutes) */
  readonly staleKeysForMs: number
  /** For how many days metrics are kept by the minute, the hour and the day, and the audit log. @default 8, 90, 730, and 400 */
  readonly retention: {
    readonly minutesDays: number
    readonly hoursDays: number
    readonly daysDays: number
    readonly auditDays: number
  }
  /** Whether each request has a line in the log. @default true */
  readonly logRequests: boolean
  /**
   * How long the service still accepts requests after SIGTERM while it reports 503 at `/readyz`, in milliseconds.
   * @default KEYRAIL_DRAIN_DELAY_MS of the environment, which is 5000 in the Docker image; else 0
   */
  readonly drainDelayMs?: number
}

type Optional<T, Names extends keyof T> = Omit<T, Names> & Partial<Pick<T, Names>>
type ListenInput = Optional<ListenConfig, 'host'>

/** What may stand in a config file: all but `publicUrl`, `chain` and `networks` has a default. */
export interface ServiceConfigInput extends Partial<
  Omit<
    ServiceConfig,
    'publicUrl' | 'networks' | 'listen' | 'control' | 'prometheus' | 'chain' | 'services' | 'limits' | 'retention'
  >
> {
  readonly publicUrl: string
  readonly networks: ServiceConfig['networks']
  readonly listen?: ListenInput
  readonly control?: { readonly publicUrl: string; readonly listen: ListenInput }
  readonly prometheus?: ListenInput
  readonly chain: Optional<ServiceConfig['chain'], 'aliases'>
  readonly services?: Partial<ServiceConfig['services']>
  readonly limits?: {
    readonly apiKeys?: Partial<KeyLimits>
    readonly apps?: Partial<KeyLimits>
    readonly appsPerUser?: number
  }
  readonly retention?: Partial<ServiceConfig['retention']>
}

/** The config file: every member, what it may be, and what it is where it is left out. */
export const serviceConfigSchema: z.ZodType<ServiceConfig> = object({
  $schema: z.string().exactOptional(),
  publicUrl,
  listen: listen.prefault({ port: 8080 }),
  tls: object({
    certFile: text('must be the path of a certificate chain in PEM', 4_096),
    keyFile: text('must be the path of its private key in PEM', 4_096),
  }).exactOptional(),
  control: object({ publicUrl, listen }).exactOptional(),
  prometheus: object({ host: host().default('127.0.0.1'), port: port() }).exactOptional(),
  storage: object({ file: text('must be the path of the SQLite file', 4_096) }).exactOptional(),
  dashboard: object({ folder: text('must be the path of the folder with the built pages', 4_096) }).exactOptional(),
  trustedProxies: z
    .array(
      text('must be an IP address or a range, such as "10.0.0.0/8"').superRefine((given, context) => {
        const read = parseIpRange(given)
        if ('fix' in read) context.addIssue({ code: 'custom', message: read.fix })
      }),
      must('must be a list of IP addresses and ranges'),
    )
    .readonly()
    .default([]),
  signUp: oneOf(['open', 'invite', 'closed']).default('closed'),
  reveal: oneOf(['onDemand', 'never']).default('onDemand'),
  chain: object({
    name: text('must be the name of the chain, such as "Ethereum"', 64),
    symbol: text('must be the symbol of its coin, such as "ETH"', 16),
    aliases: z
      .array(text('must be another name of the chain', 64), must('must be a list of names'))
      .readonly()
      .default([]),
  }),
  networks: object({ testnet: network, mainnet: network }),
  services: object({
    debug: onOff().default(false),
    trace: onOff().default(false),
    javascriptTracers: onOff().default(false),
  }).prefault({}),
  limits: object({
    apiKeys: object({
      // Far above what the day's limit is for: without one, what is rejected would cost a key nothing at all.
      perSecond: keyLimits.perSecond.default(1_000),
      burst: keyLimits.burst.default(10_000),
      perDay: keyLimits.perDay.default(25_000),
      perMonth: keyLimits.perMonth.default(null),
    }).prefault({}),
    apps: object({
      perSecond: keyLimits.perSecond.default(100),
      burst: keyLimits.burst.default(1_000),
      perDay: keyLimits.perDay.default(100_000),
      perMonth: keyLimits.perMonth.default(3_000_000),
    }).prefault({}),
    appsPerUser: whole(1, 10_000).default(20),
  }).prefault({}),
  bounds: object({
    maxBodyBytes: whole(1, 268_435_456).exactOptional(),
    maxBatchCalls: whole(1, 100_000).exactOptional(),
    maxJsonDepth: whole(8, 1_000).exactOptional(),
    maxResponseBytes: whole(1, 268_435_456).exactOptional(),
    maxBufferedBytes: whole(1, Number.MAX_SAFE_INTEGER).exactOptional(),
    upstreamTimeoutMs: whole(1, 2_147_483_647).exactOptional(),
    headersTimeoutMs: whole(1, 2_147_483_647).exactOptional(),
    requestTimeoutMs: whole(1, 2_147_483_647).exactOptional(),
    writeTimeoutMs: whole(1, 2_147_483_647).exactOptional(),
    maxConnections: whole(1, 1_000_000).exactOptional(),
    maxCacheBytes: whole(0, 268_435_456).exactOptional(),
    maxFilters: whole(1, 100_000).exactOptional(),
  }).prefault({}),
  quotaStatus: z.literal([403, 429], must('must be 403 or 429')).default(403),
  outageGrant: whole(0, 1_000_000).default(500),
  staleKeysForMs: whole(0, dayMs).default(600_000),
  retention: object({
    minutesDays: whole(1, daysLong).default(8),
    hoursDays: whole(1, daysLong).default(90),
    daysDays: whole(1, daysLong).default(730),
    auditDays: whole(1, daysLong).default(400),
  }).prefault({}),
  logRequests: onOff().default(true),
  drainDelayMs: whole(0, longestDrainDelayMs).exactOptional(),
})
