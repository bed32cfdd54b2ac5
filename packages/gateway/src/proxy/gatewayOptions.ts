import type { IncomingMessage, ServerResponse } from 'node:http'
import type { KeyStore } from '../auth/key/keyStore.ts'
import type { LogEntry } from './log.ts'
import type { MethodWeights } from './method/weights.ts'
import type { Meter } from '../usage/metering/meter.ts'
import type { RequestLog } from '../usage/requestLog/requestLog.ts'
import type { RequestTracer } from './requestTracer.ts'
import type { Network } from '../lib/network.ts'
import type { UsageLimits } from '../usage/limits/usageLimits.ts'
import type { SubscriptionLimits } from './subscription/subscriptionHub.ts'
import type { LoadBalancing, UpstreamOptions } from './upstream/upstreamOptions.ts'

export type { UpstreamOptions } from './upstream/upstreamOptions.ts'

/** One network's nodes. */
export interface NetworkOptions {
  /** The chain id. An upstream that responds to `eth_chainId` with another one is never used. */
  readonly chainId: number
  /** Other names of the network, which its URLs can have too. @default none */
  readonly aliases?: readonly string[]
  /** At least one, in the order of preference. */
  readonly upstreams: readonly UpstreamOptions[]
  /**
   * `order`: all calls go to the first healthy node. `spread`: a call goes to the node with the lowest load, which is its requests in flight times
   * its latency, divided by its `weight`. @default 'order'
   */
  readonly loadBalancing?: LoadBalancing
  /** How many blocks an upstream may be behind the highest head. One that lags more is used only if no other is left. @default 8 */
  readonly maxLagBlocks?: number
  /**
   * A cheap read without a response after this many milliseconds is sent to a second upstream too, and the first response wins. `p95`: after the
   * 95th percentile of the node's own latency. @default never
   */
  readonly hedgeMs?: number | 'p95'
  /** Whether an `eth_getLogs` whose range a node rejects is read in parts: one call of a caller can then be up to 100 to a node. @default true */
  readonly splitLogs?: boolean
  /**
   * Whether subscriptions check that a node's logs of a block are complete, by the block's bloom filter or its receipts. Turn it off if the
   * nodes can confirm neither: each block would be read several times. @default true
   */
  readonly checkLogs?: boolean
  /** Limits of this network. @default the `limits` of the gateway, for each that is left out */
  readonly limits?: NetworkLimits
  /** How many requests a call of a method counts as on this network. @default the `weights` of the gateway, which these replace */
  readonly weights?: MethodWeights
}

/** Limits of resources: whole numbers from 1 (`maxCacheBytes`: from 0, `maxJsonDepth`: from 8). The largest `maxBodyBytes` and `maxResponseBytes` are 268,435,456 (256 MiB), the longest times 2,147,483,647 ms. */
export interface GatewayLimits {
  /** Largest request body, in bytes. @default 2_097_152 (2 MiB) */
  readonly maxBodyBytes?: number
  /** Most calls in one batch, up to 100,000. @default 1000 */
  readonly maxBatchCalls?: number
  /** How deep arrays and objects may be nested in a request body, from 8 to 1000. @default 64 */
  readonly maxJsonDepth?: number
  /** Most bytes of the nodes' responses to one request. @default 67_108_864 (64 MiB) */
  readonly maxResponseBytes?: number
  /**
   * Most bytes that all requests of the process buffer together: the nodes' responses, and request bodies except those of up to 4 KiB that
   * arrive in one chunk. An owner's requests buffer at most as many bytes as are left. A request without room is rejected as `upstream_busy`.
   * @default 536_870_912 (512 MiB)
   */
  readonly maxBufferedBytes?: number
  /** How long the nodes may take for one call, a retry included, in milliseconds. @default 30_000 */
  readonly upstreamTimeoutMs?: number
  /** How long a request's headers may take to arrive, in milliseconds; not above `requestTimeoutMs`. @default 20_000, or `requestTimeoutMs` if that is less */
  readonly headersTimeoutMs?: number
  /** How long a whole request may take to arrive, in milliseconds. @default 60_000 */
  readonly requestTimeoutMs?: number
  /** How long a caller may read nothing of its response before its connection is cut, in milliseconds. The whole response may take that long plus a second for each 20 kB. @default 30_000 */
  readonly writeTimeoutMs?: number
  /** Most open connections; more are not accepted. One IP (for IPv6 a /64) may have at most as many as are left, except `trustedProxies` and this machine. @default 16_384 */
  readonly maxConnections?: number
  /** Size of each network's cache of responses that cannot change any more, in bytes; 0 turns it off. @default 33_554_432 (32 MiB) */
  readonly maxCacheBytes?: number
  /** Most filters of one key on one network. One more evicts the least recently used one. @default 100 */
  readonly maxFilters?: number
}

/** WebSockets: whether there are any, and their limits. Numbers are whole and from 1, `pingMs` from 1,000. */
export interface WebSocketOptions extends Partial<SubscriptionLimits> {
  /** Whether the URLs of the networks accept WebSockets. @default true */
  readonly enabled?: boolean
  /** Open connections with one key. @default 200 */
  readonly maxConnectionsPerKey?: number
  /** Open connections with all keys of one user. @default 500 */
  readonly maxConnectionsPerUser?: number
  /** Open connections from one IP (for IPv6 a /64); not for this machine, which may be a proxy. @default 200 */
  readonly maxConnectionsPerIp?: number
  /** Requests of one connection that are handled at the same time. Later ones wait. @default 64 */
  readonly maxInFlight?: number
  /** Bytes of notifications that a connection may be behind before it is closed. @default 8_388_608 (8 MiB) */
  readonly maxBufferedBytes?: number
  /** How often a connection gets a ping, in milliseconds. One that does not respond before the next ping is closed. @default 25_000 */
  readonly pingMs?: number
}

/** The default of WebSockets. */
export const defaultWebSocket: Required<WebSocketOptions> = Object.freeze({
  enabled: true,
  maxConnectionsPerKey: 200,
  maxConnectionsPerUser: 500,
  maxConnectionsPerIp: 200,
  maxInFlight: 64,
  maxBufferedBytes: 8 * 1024 * 1024,
  pingMs: 25_000,
  maxSubscriptions: 1_000,
  maxAddresses: 1_000,
  maxTopics: 1_000,
  maxNotificationsPerBlock: 20_000,
  fullTransactions: true,
})
/** The limits that a network can have of its own. The others apply to a connection or to the process, or before the network is known. */
export type NetworkLimits = Pick<
  GatewayLimits,
  'maxBatchCalls' | 'maxResponseBytes' | 'upstreamTimeoutMs' | 'maxCacheBytes' | 'maxFilters'
>

/** The default limits. */
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

/** The default limit of requests with unknown keys from one IP. */
export const defaultUnknownKeys: NonNullable<GatewayOptions['unknownKeys']> = Object.freeze({
  perSecond: 10,
  burst: 100,
})

/** The default of how far an upstream may be behind, in blocks. */
export const defaultMaxLagBlocks = 8

/** Options of a gateway. */
export interface GatewayOptions {
  /** By name: lower-case letters, digits and inner hyphens, such as `ethereum-mainnet`. A name is a part of the network's URLs. */
  readonly networks: Readonly<Record<Network, NetworkOptions>>
  /** Host names that each mean a network, such as `{network}.rpc.example.org`: the paths there are `/v2/{key}` and `/{key}`. @default none */
  readonly networkHosts?: string
  readonly keys: KeyStore
  /** The gateway's URL for callers, if it is not the listening URL. If it has a path, the proxy in front must remove it. */
  readonly publicUrl?: string
  /**
   * Groups of methods that callers may use in addition to `eth_`, `net_` and `web3_`, and whether they may send custom tracers: JavaScript
   * programs that run inside the nodes. Never for a key with an address list. @default none of these
   */
  readonly services?: {
    readonly debug?: boolean
    readonly trace?: boolean
    /** `txpool_` methods show the transactions that the nodes hold and that are not on the chain yet. An app with an address list never gets them. */
    readonly txpool?: boolean
    readonly javascriptTracers?: boolean
  }
  /** Allows the methods of development nodes (`anvil_`, `evm_`, `hardhat_`), which rewrite the chain. For development only. @default false */
  readonly unsafeNodeMethods?: boolean
  readonly limits?: GatewayLimits
  readonly webSocket?: WebSocketOptions
  /** Charges calls to the rates and quotas in the keys' records. @default none: nothing is limited */
  readonly usageLimits?: UsageLimits
  /** How many requests a call of a method counts as in rates and quotas: whole numbers from 1 to 1,000,000. @default 1 for each method */
  readonly weights?: MethodWeights
  /** The HTTP status when a quota is used up. 403, because some clients retry a 429 for minutes. @default 403 */
  readonly quotaStatus?: 403 | 429
  /** Counts the calls of known keys by outcome. @default none */
  readonly meter?: Meter
  /** Records failed requests, and a sample of the others. @default none */
  readonly requestLog?: RequestLog | undefined
  /** Traces requests. @default none */
  readonly tracer?: RequestTracer | undefined
  /** How many requests with unknown keys one IP (for IPv6 a /64) may send before it gets 429. A valid key is never rejected for it. @default 10 a second, bursts of 100 */
  readonly unknownKeys?: { readonly perSecond: number; readonly burst: number }
  /** Proxies in front whose `X-Forwarded-For` and `X-Request-Id` are trusted: addresses and ranges, as in `['10.0.0.0/8']`. @default none */
  readonly trustedProxies?: readonly string[]
  /** Enables the test keys `kr_test_401`, `kr_test_429`, `kr_test_quota` and `kr_test_slow`, which respond as a service at its limits does, on any network and path. @default false */
  readonly testKeys?: boolean
  /** A clock in milliseconds since 1970. @default Date.now */
  readonly now?: () => number
  /**
   * Compresses responses of 1 KiB or more with brotli or gzip for callers whose `Accept-Encoding` allows it. Turn it off if a proxy in front
   * compresses, or if callers are in the same data center and CPU is worth more than bytes. @default true
   */
  readonly compression?: boolean
  /** Certificate chain and private key, both PEM: then it serves only https. A reload can renew them, but not add or remove them. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer }
  /**
   * Handles requests to all paths other than those of the networks and of health checks, such as `/api` and a dashboard. It sets its own headers.
   * It is not called while draining. Return `false`, without a response, to respond with the usual 404.
   */
  readonly fallback?: (request: IncomingMessage, response: ServerResponse, requestId: string) => boolean
  /** The parts that do not work at the moment although calls do, such as `['redis']`. `/readyz` lists them, and stays 200. @default none */
  readonly degraded?: () => readonly string[]
  /**
   * Why calls cannot be served at the moment although upstreams are there, such as `'database'`. `/readyz` then responds with 503 and this
   * reason. @default never
   */
  readonly notReady?: () => string | undefined
  /** False logs only changes and faults, which is faster. @default true */
  readonly logRequests?: boolean
  /** Called for each request and each change. Errors that it throws are ignored. */
  readonly log?: (entry: LogEntry) => void
}
