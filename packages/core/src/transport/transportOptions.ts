import type { EndpointUrlOptions } from '../endpoint/endpointUrlOptions.ts'
import type { DiagnosticsFeature } from '../observe/diagnostics.ts'
import type { HooksFeature } from '../observe/hooks.ts'
import type { StatsFeature } from '../observe/statsFeature.ts'
import type { TracingFeature } from '../observe/tracing.ts'
import type { WebSocketFeature } from '../socket/webSocket.ts'
import type { BatchFeature } from './batch.ts'
import type { BudgetFeature } from './budget.ts'
import type { Layer } from './call/call.ts'
import type { DeadlineOptions } from './deadline.ts'
import type { FailoverFeature } from './failover.ts'
import type { ConcurrencyOptions } from './endpoint/limitConcurrency.ts'
import type { HttpOptions } from './endpoint/http.ts'
import type { RetryOptions } from './retry.ts'

/**
 * How calls are sent. Times are in milliseconds. A feature is bundled only if you import it and pass it here:
 * `createTransport({ url, batch: batch(), cache: cache() })`.
 */
export interface FeatureOptions extends HttpOptions, ConcurrencyOptions, DeadlineOptions {
  /** How failed calls are retried; `false` for never, a number for that many times. @default 3 times, full jitter from 150 ms, at most 5 s */
  readonly retry?: false | number | RetryOptions | undefined
  /** Identical reads at the same time share one request. @default true */
  readonly coalesce?: boolean | undefined
  /** Sends calls of the same tick as one JSON-RPC batch, and adds `transport.batch([…])`: `batch()`. @default none */
  readonly batch?: BatchFeature<never> | undefined
  /** Limits what each endpoint is sent per second and per day: `budget({ requestsPerSecond: 25 })`. @default none */
  readonly budget?: BudgetFeature | undefined
  /** Caches results that cannot change: `cache()`. @default none */
  readonly cache?: Layer | undefined
  /** Looks transactions up before it reports a failure: `safeWrites({ keccak256 })`; `false` turns off an adapter's own. @default none */
  readonly safeWrites?: Layer | false | undefined
  /** Opens WebSocket connections for subscriptions and, with `requests`, for every call: `webSocket()`. @default none */
  readonly webSocket?: WebSocketFeature | undefined
  /** Layers of your own, the innermost first, made by `layer()`. They run inside the deadline and around everything else. @default [] */
  readonly layers?: readonly Layer[] | undefined
  /** Counts calls, requests and latencies, and adds `transport.stats()`: `stats()`. @default none */
  readonly stats?: StatsFeature | undefined
  /** Calls your functions when calls start, fail, are retried and end: `hooks({ onFailure })`. @default none */
  readonly hooks?: HooksFeature | undefined
  /** Creates one OpenTelemetry span per call: `tracing({ api })`. @default none */
  readonly tracing?: TracingFeature | undefined
  /** Publishes events on `node:diagnostics_channel`: `diagnostics()`. @default none */
  readonly diagnostics?: DiagnosticsFeature | undefined
}

/** Several endpoints in place of one. */
interface SeveralEndpoints {
  /** The endpoints, and how one is chosen: `failover([{ url: a }, { url: b }])`. */
  readonly endpoints: FailoverFeature
  readonly url?: undefined
  readonly baseUrl?: undefined
  readonly rpcUrl?: undefined
  readonly apiKey?: undefined
  readonly jwt?: undefined
  readonly headers?: undefined
  readonly network?: undefined
  readonly chainId?: undefined
}

/** The options of `createTransport` and of every adapter: which endpoint to call, and how. */
export type TransportOptions<Network extends string = string> = (
  | (EndpointUrlOptions<Network> & { readonly endpoints?: undefined })
  | SeveralEndpoints
) &
  FeatureOptions
