import budgetCases from '../budgets.json' with { type: 'json' }
import cacheCases from '../caches.json' with { type: 'json' }
import routeCases from '../routes.json' with { type: 'json' }
import type { Json } from './json.ts'
import type { Implementation } from './failureCases.ts'

/** The facts of a failure, as core's `FailureFacts`. */
export interface VectorFacts {
  readonly text: string
  readonly kind?: string
  readonly status?: number
  readonly rpcError?: { readonly code: number; readonly message: string; readonly data?: Json }
  /** The `retry-after` header. */
  readonly retryAfter?: string
  /** The server cannot have received any part of the request. */
  readonly unsent?: boolean
}

/** How a node responds to a call. */
export interface VectorResponse {
  /** @default "0x1" */
  readonly result?: Json
  readonly facts?: VectorFacts
  /** There is no response. */
  readonly never?: true
  /** The result of an `eth_blockNumber` that the client adds. */
  readonly head?: string
  /** The time until the response, in milliseconds. @default 1 */
  readonly afterMs?: number
}

/** Calls to several endpoints, one after the other, and the endpoints that they must be sent to. */
export interface RouteCase {
  readonly name: string
  readonly appliesTo: readonly Implementation[]
  readonly endpoints: readonly { readonly weight?: number }[]
  /** The options of `failover`. @default none, with a circuit breaker if there are several endpoints */
  readonly options?: {
    readonly order?: 'given' | 'latency'
    readonly minBlock?: boolean
    readonly attemptTimeoutMs?: number
    readonly acceptableWaitMs?: number
    readonly breaker?: false | { readonly failures?: number; readonly openMs?: number; readonly deadMs?: number }
  }
  /** How often a failed call is retried above the route, without a delay. @default 0 */
  readonly retries?: number
  readonly calls: readonly {
    /** When the call starts, in milliseconds after the start of the case, or once the call before has completed. @default 0 */
    readonly atMs?: number
    readonly method: string
    /** @default [] */
    readonly params?: readonly Json[]
    /** @default 10_000 */
    readonly timeoutMs?: number
    /** The response of each endpoint to this call. @default the result "0x1" */
    readonly nodes?: readonly VectorResponse[]
    /** The calls that each endpoint must receive, in order: its position, the method and the params. The last two are checked where present. */
    readonly sent: readonly (readonly [at: number, method?: string, params?: readonly Json[]])[]
    readonly expect: {
      readonly result?: Json
      readonly kind?: string
      readonly retryable?: boolean
      /** Texts that the error message must contain. */
      readonly messageHolds?: readonly string[]
      /** The duration of the call, in milliseconds, give or take 1. */
      readonly afterMs?: number
    }
  }[]
  readonly why: string
}

/** Calls to one endpoint with a budget, and when each is sent. The clock starts at 0. */
export interface BudgetCase {
  readonly name: string
  readonly appliesTo: readonly Implementation[]
  /** The date at the start. @default "2026-01-01T12:00:00Z" */
  readonly date?: string
  /** The options of `budget`. */
  readonly options: {
    readonly requestsPerSecond?: number
    readonly computeUnitsPerSecond?: number
    readonly requestsPerDay?: number
    readonly computeUnitsPerDay?: number
    readonly burst?: number
    readonly computeUnits?: { readonly [method: string]: number }
    readonly maxWaitMs?: number
  }
  readonly calls: readonly {
    /** When the calls start, in milliseconds. @default 0 */
    readonly atMs?: number
    /** How many calls start then. @default 1 */
    readonly count?: number
    /** @default "eth_getBalance" */
    readonly method?: string
    readonly priority?: 'write' | 'read' | 'poll'
    /** @default 10_000 */
    readonly timeoutMs?: number
    readonly response?: VectorResponse
    /** For each call, when it is sent, in milliseconds, give or take 2; or the kind of failure with which it is rejected. */
    readonly expect: readonly (number | string)[]
  }[]
  readonly why: string
}

/** Calls one after another, and which of them the cache responds to. */
export interface CacheCase {
  readonly name: string
  readonly appliesTo: readonly Implementation[]
  /** The options of `cache`. */
  readonly options?: { readonly finalityDepth?: number }
  readonly calls: readonly {
    readonly method: string
    readonly params: readonly Json[] | { readonly [name: string]: Json }
    /** The result, if the call is sent. */
    readonly result: Json
    /** The call is not sent, because its result is cached. */
    readonly cached?: true
  }[]
  readonly why: string
}

/** When calls are sent to an endpoint with a budget: `budgets.json`. */
export const budgets: readonly BudgetCase[] = budgetCases as unknown as readonly BudgetCase[]

/** The results that are cached: `caches.json`. */
export const caches: readonly CacheCase[] = cacheCases as unknown as readonly CacheCase[]

/** Which endpoint a call is sent to, and when it goes to another one: `routes.json`. */
export const routes: readonly RouteCase[] = routeCases as unknown as readonly RouteCase[]
