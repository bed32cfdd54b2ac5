import type { IncomingMessage, ServerResponse } from 'node:http'
import type { KeyStore } from '../auth/key/keyStore.ts'
import type { RateLimiter } from '../usage/rateLimit/rateLimiter.ts'
import type { LogEntry } from './log.ts'
import type { Meter } from '../usage/metering/meter.ts'
import type { Network } from '../lib/network.ts'
import type { Quota } from '../usage/quota/quota.ts'

/** One node behind the gateway. */
export interface UpstreamOptions {
  /** http or https; may hold a path, a query, user and password. A secret: it reaches no answer and no log. */
  readonly url: string
  /** What logs call it. @default the network and its place, as in `testnet-1` */
  readonly name?: string
}

/** One network's nodes. */
export interface NetworkOptions {
  /** What every upstream must answer to `eth_chainId`; one that answers otherwise is never used. */
  readonly chainId: number
  /** At least one, in the order of preference. */
  readonly upstreams: readonly UpstreamOptions[]
  /** How many blocks an upstream may be behind the highest of the others before it is asked only where no other is left. @default 8 */
  readonly maxLagBlocks?: number
  /** A light read without an answer after this many milliseconds is asked of a second upstream too, and the first answer counts. @default never */
  readonly hedgeMs?: number
}

/** Bounds of what callers may cost: whole numbers from 1 (`maxCacheBytes`: from 0, `maxJsonDepth`: from 8). Bytes of one request go up to 268,435,456 (256 MiB), milliseconds to 2,147,483,647. */
export interface GatewayLimits {
  /** Largest request body, in bytes. @default 2_097_152 (2 MiB) */
  readonly maxBodyBytes?: number
  /** Most calls in one batch, up to 100,000. @default 1000 */
  readonly maxBatchCalls?: number
  /** How many arrays and objects may be nested in each other in a request body, from 8 to 1000. @default 64 */
  readonly maxJsonDepth?: number
  /** Most bytes of nodes' answers to one request. @default 67_108_864 (64 MiB) */
  readonly maxResponseBytes?: number
  /** Most bytes that all requests of the process keep at once, of nodes' answers and of bodies, but for those up to 4 KiB that come at once; an owner's at most as many as are left. What finds no room is told `upstream_busy`. @default 536_870_912 (512 MiB) */
  readonly maxBufferedBytes?: number
  /** How long the nodes may take for one call, a second try included, in milliseconds. @default 30_000 */
  readonly upstreamTimeoutMs?: number
  /** How long a request's header may take to arrive, in milliseconds; not above `requestTimeoutMs`. @default 20_000, or `requestTimeoutMs` where that is less */
  readonly headersTimeoutMs?: number
  /** How long a whole request may take to arrive, in milliseconds. @default 60_000 */
  readonly requestTimeoutMs?: number
  /** How long a caller may take nothing of its answer before its connection is cut, in milliseconds. For the whole answer it has that and a second for each 20 kB. @default 30_000 */
  readonly writeTimeoutMs?: number
  /** Most connections of callers at once; one more is not taken. Of one IP (of IPv6 a /64) at most as many as are left, but of `trustedProxies` and of this machine. @default 16_384 */
  readonly maxConnections?: number
  /** Most bytes of answers that cannot change any more kept for each network; 0 keeps none. @default 33_554_432 (32 MiB) */
  readonly maxCacheBytes?: number
  /** Most filters of one key and network at once; the one unused for longest makes room. @default 100 */
  readonly maxFilters?: number
}

/** The limits that hold where none are given. */
export const defaultLimits: Required<GatewayLimits> = Object.freeze({
  maxBodyBytes: 2 * 1024 * 1024,
  maxBatchCalls: 1_000,
  maxJsonDepth: 64,
  maxResponseBytes: 64 * 1024 * 1024,
  maxBufferedBytes: 512 * 1024 * 1024,
  upstreamTimeoutMs: 30_000,
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 60_000,
  writeTimeoutMs: 30_000,
  maxConnections: 16_384,
  maxCacheBytes: 32 * 1024 * 1024,
  maxFilters: 100,
})

/** How often one IP may come with keys that nobody has, where nothing else is said. */
export const defaultUnknownKeys: NonNullable<GatewayOptions['unknownKeys']> = Object.freeze({
  perSecond: 10,
  burst: 100,
})

/** How far an upstream may be behind where nothing else is said, in blocks. */
export const defaultMaxLagBlocks = 8

/** What a gateway is made of. */
export interface GatewayOptions {
  readonly networks: Readonly<Record<Network, NetworkOptions>>
  readonly keys: KeyStore
  /** Where callers reach the gateway, where that is not the listening URL. A path in it is for the proxy in front to take off. */
  readonly publicUrl?: string
  /**
   * Which groups of methods are offered beside `eth_`, `net_` and `web3_`, and whether callers may send tracers of their own to them:
   * programs in JavaScript, which run inside the nodes. Never for a key with an address list. @default none of these
   */
  readonly services?: { readonly debug?: boolean; readonly trace?: boolean; readonly javascriptTracers?: boolean }
  /** Opens the embedded nodes' own methods (`anvil_`, `evm_`, `hardhat_`), which rewrite the chain. For development only. @default false */
  readonly unsafeNodeMethods?: boolean
  readonly limits?: GatewayLimits
  /** Counts calls against the rates in the keys' records. @default none: no rate holds */
  readonly rates?: RateLimiter
  /** Counts calls against the daily and monthly quotas in the keys' records. @default none: no quota holds */
  readonly quota?: Quota
  /** The HTTP status where a quota is used up. 403, because some clients ask for minutes on end where they get 429. @default 403 */
  readonly quotaStatus?: 403 | 429
  /** Counts what came with a known key, and how it ended. @default none */
  readonly meter?: Meter
  /** How often one IP (of IPv6 a /64) may come with keys that nobody has, before it is told 429. No good key is rejected by it. @default 10 a second, 100 at once */
  readonly unknownKeys?: { readonly perSecond: number; readonly burst: number }
  /** Proxies in front whose `X-Forwarded-For` and `X-Request-Id` are believed: addresses and ranges, as in `['10.0.0.0/8']`. @default none */
  readonly trustedProxies?: readonly string[]
  /** Answers to `kr_test_401`, `kr_test_429`, `kr_test_quota` and `kr_test_slow` as a service at its limit does, on any network and path. @default false */
  readonly testKeys?: boolean
  /** A clock in milliseconds since 1970. @default Date.now */
  readonly now?: () => number
  /** Certificate chain and private key, both PEM: then it speaks https alone. A reload may renew them, but neither bring nor drop them. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer }
  /**
   * Answers what lies outside the networks' and the health's paths, such as `/api` and a dashboard, with whatever headers it likes.
   * Not asked while draining. What it leaves by `false`, untouched, is a 404 as without it.
   */
  readonly elsewhere?: (request: IncomingMessage, response: ServerResponse, requestId: string) => boolean
  /** What does not work at the moment though calls do, such as `['redis']`: `/readyz` tells it, and stays 200. @default nothing */
  readonly degraded?: () => readonly string[]
  /**
   * Why calls cannot be served at the moment although upstreams are there, such as `'database'`. `/readyz` then responds with 503 and this
   * reason. @default never
   */
  readonly notReady?: () => string | undefined
  /** False tells the log of changes and faults alone, which saves each request the telling. @default true */
  readonly logRequests?: boolean
  /** Told of each request and each change. What it throws is ignored. */
  readonly log?: (entry: LogEntry) => void
}
