import type { IncomingMessage, ServerResponse } from 'node:http'
import type { z } from 'zod'
import type { KeyStore } from '../auth/key/keyStore.ts'
import type { Network } from '../lib/network.ts'
import type { ChainStore } from '../storage/chainStore/chainStore.ts'
import type { InstanceShare } from '../storage/redis/createInstances.ts'
import type { SharedChecks } from '../storage/redis/createSharedChecks.ts'
import type { PermitStore } from '../usage/limits/createPermits.ts'
import type { UsageLimits } from '../usage/limits/usageLimits.ts'
import type { NodeTraffic } from '../usage/traffic/createNodeTraffic.ts'
import type { Meter } from '../usage/metering/meter.ts'
import type { RequestRecorder } from '../usage/requestLog/requestRecorder.ts'
import type { LogEntry } from './log.ts'
import type { DevelopmentMethods } from './method/createMethodPolicy.ts'
import type { MethodWeights } from './method/weights.ts'
import type { gatewayShape } from './options/gatewayShape.ts'
import type { NetworkOptions } from './options/networkOptions.ts'
import type { RequestTracer } from './requestTracer.ts'
import type { CreateHub } from './subscription/createNetworkHub.ts'

/** The options of a gateway that the config sets. A reload replaces them. */
export interface GatewayConfig extends Readonly<z.output<z.ZodObject<typeof gatewayShape>>> {
  readonly networks: ReadonlyMap<Network, NetworkOptions>
  /** The URL for callers, without a slash at its end. If it has a path, the proxy in front must remove it. @default the listening URL */
  readonly publicUrl: string | undefined
  /** How many requests a call of a method counts as in rates and quotas, without those of 1. */
  readonly weights: MethodWeights
  /** Certificate chain and private key, both PEM. A reload can renew them, but not add or remove them. @default http */
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined
  /** @default none: requests are not traced */
  readonly tracer: RequestTracer | undefined
}

/** The parts of the service that a gateway uses. */
export interface GatewayParts {
  readonly keys: KeyStore
  /** Charges calls to the rates and quotas in the keys' records. @default none: nothing is limited */
  readonly usageLimits?: UsageLimits
  /** Counts the calls of known keys by outcome. @default none */
  readonly meter?: Meter
  /** Records failed and reverted requests, and a sample of the others. @default none */
  readonly requestRecorder?: RequestRecorder
  /** How many requests with unknown keys one IP (for IPv6 a /64) may send before it gets 429. A valid key in memory is never rejected for it. @default 10 a second, bursts of 100 */
  readonly unknownKeys?: { readonly perSecond: number; readonly burst: number }
  /** Allows the own methods of development nodes. @default none */
  readonly developmentMethods?: DevelopmentMethods
  /** Enables the test keys `kr_test_401`, `kr_test_429`, `kr_test_quota` and `kr_test_slow`, which respond as a service at its limits does, on any network and path. Web pages of other origins than `publicUrl` and this machine cannot use them. @default false */
  readonly testKeys?: boolean
  /** A clock in milliseconds since 1970. @default Date.now */
  readonly now?: () => number
  /**
   * Handles requests to all paths other than those of the networks and of health checks, such as `/api` and a dashboard. It sets its own headers.
   * It is not called while draining. Return `false`, without a response, to respond with the usual 404.
   */
  readonly fallback?: (request: IncomingMessage, response: ServerResponse, requestId: string) => boolean
  /** The parts that do not work at the moment although calls do, such as `['redis']`. `/readyz` lists them, and stays 200. @default none */
  readonly degraded?: () => readonly string[]
  /** What an operator should know although calls work, such as `{ secret: '…' }`. `/readyz` shows it as `details`. @default none */
  readonly details?: (() => Readonly<Record<string, string>>) | undefined
  /**
   * Why calls cannot be served at the moment although upstreams are there, such as `'database'`. `/readyz` then responds with 503 and this
   * reason. @default never
   */
  readonly notReady?: () => string | undefined
  /** Called for each request and each change. Errors that it throws are ignored. */
  readonly log?: (entry: LogEntry) => void
  /** Creates the subscriptions of a network when it gets its first WebSocket. @default createNetworkHub */
  readonly createHub?: CreateHub
  /** What can no longer change on chains. It outlives the gateway. @default none */
  readonly chainStore?: ChainStore | undefined
  /** Permits of the daily budgets of nodes. @default counted by this process, which a restart forgets */
  readonly permits?: PermitStore | undefined
  /** Counts what nodes were sent, and what was saved. @default counted since the start */
  readonly traffic?: NodeTraffic | undefined
  /** The instances that share the budgets of a second. @default there are no others */
  readonly getInstances?: (() => InstanceShare) | undefined
  /** The checks of nodes that the instances of a cluster share. @default there are no other instances */
  readonly checks?: SharedChecks | undefined
}
