import type { GatewayLimits, GatewayOptions } from '../gatewayOptions.ts'
import type { ClientIp } from '../../lib/ip/clientIp.ts'
import type { Connections } from '../http/connections.ts'
import type { JwtCache } from '../../auth/jwt/createJwtCache.ts'
import type { KeyStore } from '../../auth/key/keyStore.ts'
import type { IpLimit } from '../../usage/rateLimit/createIpLimit.ts'
import type { RateLimiter } from '../../usage/rateLimit/rateLimiter.ts'
import type { LogEntry } from '../log.ts'
import type { Meter } from '../../usage/metering/meter.ts'
import type { MethodPolicy } from '../method/createMethodPolicy.ts'
import type { Network } from '../../lib/network.ts'
import type { Quota } from '../../usage/quota/quota.ts'
import type { UpstreamGroup } from '../upstream/createUpstreamGroup.ts'
import type { BodyQueue } from './createBodyQueue.ts'

/** What answering needs of the gateway. */
export interface GatewayContext {
  readonly groups: Readonly<Record<Network, UpstreamGroup>>
  readonly keys: KeyStore
  readonly policy: MethodPolicy
  /** Whether callers may send tracers of their own. */
  readonly javascriptTracers: boolean
  /** `undefined`: no rate holds, whatever keys say. */
  readonly rates: RateLimiter | undefined
  /** `undefined`: no quota holds. */
  readonly quota: Quota | undefined
  readonly quotaStatus: 403 | 429
  readonly meter: Meter | undefined
  readonly jwtCache: JwtCache
  /** What callers with keys that nobody has are held against. */
  readonly unknownKeys: IpLimit
  readonly clientIp: ClientIp
  readonly testKeys: boolean
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly limits: Required<GatewayLimits>
  readonly bodies: BodyQueue
  /** The value of `Strict-Transport-Security`, where browsers are to keep to https. */
  readonly strictTransportSecurity: string | undefined
  readonly connections: Connections
  /** Whether the gateway is about to stop: `/readyz` responds with 503, and each connection is closed after its last response. */
  readonly leaving: () => boolean
  /** Whether it rejects new requests, because the drain delay is over. */
  readonly draining: () => boolean
  readonly elsewhere: GatewayOptions['fallback']
  readonly degraded: () => readonly string[]
  readonly notReady: () => string | undefined
  /** Requests that were begun under these options and are still in flight. */
  inFlight: number
  /** Whether the log is told of each request that was answered. */
  readonly logRequests: boolean
  readonly log: (entry: LogEntry) => void
}
