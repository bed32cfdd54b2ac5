import type { KeyStore } from '../../auth/key/keyStore.ts'
import type { JwtCache } from '../../auth/jwt/createJwtCache.ts'
import type { ClientIp } from '../../lib/ip/clientIp.ts'
import type { Network } from '../../lib/network.ts'
import type { Meter } from '../../usage/metering/meter.ts'
import type { RequestRecorder } from '../../usage/requestLog/requestRecorder.ts'
import type { UsageLimits } from '../../usage/limits/usageLimits.ts'
import type { IpLimit } from '../../usage/rateLimit/createIpLimit.ts'
import type { LookUpLimit } from '../../usage/rateLimit/createLookUpLimit.ts'
import type { RateLimiter } from '../../usage/rateLimit/createRateLimiter.ts'
import type { GatewayConfig, GatewayParts } from '../gatewayOptions.ts'
import type { Connections } from '../http/connections.ts'
import type { NetworkNames } from '../http/parsePath.ts'
import type { LogEntry } from '../log.ts'
import type { Bounds, NetworkBounds } from '../options/bounds.ts'
import type { SubscriptionHub } from '../subscription/subscriptionHub.ts'
import type { BodyQueue } from './createBodyQueue.ts'
import type { NetworkContext } from './networkContext.ts'

/** The parts of the gateway that all requests share. A reload creates a new context, and requests in flight complete with the one they started with. */
export interface GatewayContext {
  readonly config: GatewayConfig
  readonly names: NetworkNames
  readonly networks: ReadonlyMap<Network, NetworkContext>
  /** The callers that are accepted. */
  readonly auth: {
    readonly keys: KeyStore
    readonly jwtCache: JwtCache
    /** Limits requests with unknown keys, by IP. */
    readonly unknownKeys: IpLimit
    /** Limits look-ups of keys that are not in memory, by IP. */
    readonly lookUps: LookUpLimit
    readonly clientIp: ClientIp
    /** `undefined`: `kr_test_…` keys do not work. */
    readonly testKeys:
      | {
          /** The origin of the service. Pages of other origins, except on this machine, cannot use test keys. */
          readonly origin: string | undefined
          readonly rates: RateLimiter
        }
      | undefined
  }
  /** How much may be called, and what is counted. */
  readonly usage: {
    /** `undefined`: nothing is limited. */
    readonly limits: UsageLimits | undefined
    readonly meter: Meter | undefined
    readonly requestRecorder: RequestRecorder | undefined
  }
  /** The process's own HTTP server. */
  readonly server: {
    readonly connections: Connections
    /** The value of `Strict-Transport-Security`; `undefined` if callers do not use https. */
    readonly strictTransportSecurity: string | undefined
    /** Handles paths outside the networks and health checks. */
    readonly fallback: GatewayParts['fallback']
    /** Whether the gateway is about to stop: `/readyz` responds with 503, and each connection closes after its last response. */
    readonly leaving: () => boolean
    /** Whether the drain delay is over and new requests are rejected. */
    readonly draining: () => boolean
    /** The parts of the service that do not work although calls do. */
    readonly degraded: () => readonly string[]
    readonly details: () => Readonly<Record<string, string>>
    /** Why calls cannot be served although there are upstreams; `undefined` if they can. */
    readonly notReady: () => string | undefined
  }
  /** Gets the subscriptions of a network; `undefined` if it has none. */
  readonly getHub: (network: Network) => SubscriptionHub | undefined
  /** Those that hold for all networks. */
  readonly limits: Omit<Bounds, keyof NetworkBounds>
  readonly bodies: BodyQueue
  /** How many requests that started with this context are in flight. */
  inFlight: number
  /** Whether each request has a log entry. */
  readonly logRequests: boolean
  readonly log: (entry: LogEntry) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}
