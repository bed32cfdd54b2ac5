import type {
  AddressDetails,
  AddressOptions,
  AnyAddressOptions,
  ChosenNetwork,
  OneValue,
} from '../address/addressOptions.ts'
import type { Hooks } from '../observe/hooks.ts'
import type { TracingOptions } from '../observe/tracing.ts'
import type { BatchOptions } from './batch.ts'
import type { BreakerOptions } from './breaker.ts'
import type { BudgetOptions } from './budget.ts'
import type { CacheOptions } from './cache.ts'
import type { Layer } from './call.ts'
import type { DeadlineOptions } from './deadline.ts'
import type { GateOptions } from './gate.ts'
import type { HttpOptions } from './http.ts'
import type { RetryOptions } from './retry.ts'
import type { RouteOptions } from './route.ts'
import type { SafeWriteOptions } from './safeWrite.ts'

/** How calls travel. Times are in milliseconds. */
export interface TransportOptions
  extends HttpOptions, GateOptions, RouteOptions, DeadlineOptions, Partial<SafeWriteOptions> {
  /** How failed calls are made again; `false` for never, a number for that many times. @default 3 times, full jitter from 150 ms, at most 5 s */
  readonly retry?: false | number | RetryOptions | undefined
  /** Joins calls of the same tick into batches; `transport.batch([…])` makes one in any case. @default false */
  readonly batch?: boolean | BatchOptions | undefined
  /** What each endpoint may be asked in a second and in a day. @default no limit of its own; it is slowed by refusals all the same */
  readonly budget?: BudgetOptions | undefined
  /** Leaves an endpoint alone for a while when it fails. @default true with several endpoints, false with one */
  readonly breaker?: boolean | BreakerOptions | undefined
  /** Keeps answers that cannot change. @default false */
  readonly cache?: boolean | CacheOptions | undefined
  /** Same reads at the same time share one request. @default true */
  readonly coalesce?: boolean | undefined
  /** Layers of your own, the innermost first. They stand within the deadline and around all else. @default [] */
  readonly layers?: readonly Layer[] | undefined
  /** Functions that are told what happens to calls. @default none */
  readonly hooks?: Hooks | undefined
  /** Makes one OpenTelemetry span for each call. @default none */
  readonly tracing?: TracingOptions | undefined
}

/** One of several endpoints: an address, and how it is used. */
export type EndpointOptions = AddressOptions & EndpointDetails

/** One of several endpoints whose network may be given beside them. */
export type AnyEndpointOptions = AnyAddressOptions & EndpointDetails

/** How one of several endpoints is used. */
export interface EndpointDetails {
  /** Its share of the calls, against those of the others; 0 keeps it for when the others cannot. @default 1 */
  readonly weight?: number | undefined
  /** What it is called in statistics. @default its redacted URL */
  readonly name?: string | undefined
  /** What it may be asked. @default the `budget` of the transport */
  readonly budget?: BudgetOptions | undefined
}

/**
 * Several endpoints of one chain, at most 30, in the order in which they are tried. `network` and `chainId` beside them hold for each that does
 * not have its own.
 */
export type EndpointsOptions = EndpointsFields &
  (
    | (OneValue & { readonly endpoints: readonly EndpointOptions[] })
    | (ChosenNetwork & { readonly endpoints: readonly AnyEndpointOptions[] })
  )

/** What is allowed next to several endpoints, and what is not. */
interface EndpointsFields extends Pick<AddressDetails, 'network' | 'chainId'> {
  readonly url?: undefined
  readonly baseUrl?: undefined
  readonly rpcUrl?: undefined
  readonly apiKey?: undefined
  readonly jwt?: undefined
}

/** One options type for every package: where calls go, and how. */
export type Options = ((AddressOptions & { readonly endpoints?: undefined }) | EndpointsOptions) & TransportOptions
