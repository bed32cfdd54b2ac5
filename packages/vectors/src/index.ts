import adapterCases from '../adapters.json' with { type: 'json' }
import codesAndWordsGrid from '../codesAndWords.json' with { type: 'json' }
import batchCases from '../batches.json' with { type: 'json' }
import budgetCases from '../budgets.json' with { type: 'json' }
import cacheCases from '../caches.json' with { type: 'json' }
import failureCases from '../failures.json' with { type: 'json' }
import heldOutCases from '../heldOut.json' with { type: 'json' }
import rangeHintCases from '../rangeHints.json' with { type: 'json' }
import repeatableCases from '../repeatable.json' with { type: 'json' }
import retryAfterCases from '../retryAfter.json' with { type: 'json' }
import routeCases from '../routes.json' with { type: 'json' }
import wordingCases from '../wordings.json' with { type: 'json' }
import type { Json } from './json.ts'

export type { Json } from './json.ts'
export { chains } from './chains.ts'
export type { ChainFixtures, ErrorFixture, FixtureOrigin, ResultFixture } from './chains.ts'

/** The implementations that run a case. */
export type Implementation = 'ts' | 'python'

/** A response of a server to one call, and its expected classification. */
export interface FailureCase {
  readonly name: string
  /** The origin of the wording: a provider, a proxy or a node; `any` and `broken` for cases of no particular one. */
  readonly provider: string
  /**
   * Rules are written for the first half and measured on the second. A provider is in one half only: in the second if the first byte of the
   * SHA-256 of its name is odd.
   */
  readonly half: 'first' | 'second'
  /** Where the wording comes from: a repository with the path, or a page. Every case of `wordings.json` has it. */
  readonly origin?: string
  readonly appliesTo: readonly Implementation[]
  /** The call, always with id 1. In a batch, the body either rejects the whole batch or is the response to this call. */
  readonly request: { readonly method: string; readonly batch?: boolean }
  readonly response: {
    readonly status: number
    /** By lower-case name. */
    readonly headers?: { readonly [name: string]: string }
    /** A string is the body's text; anything else is sent as JSON. */
    readonly body: Json
  }
  readonly expect: {
    readonly kind: string
    readonly source: string
    readonly retryable: boolean
    /** For a write: whether the transaction may have arrived. If so, no kind that calls the failure final is allowed. */
    readonly mayHaveArrived?: boolean
    /** Absent if the server requested no delay. */
    readonly retryAfterMs?: number
    /** Checked where present. */
    readonly rpcError?: { readonly code: number; readonly message: string; readonly data?: Json }
    /** Texts that the error message must contain. */
    readonly messageHolds?: readonly string[]
    /** Texts that the error message must not contain. */
    readonly messageLacks?: readonly string[]
  }
  /** The reason for the expected classification. */
  readonly why: string
}

/** A request of a server to wait, and the delay in it. */
export interface RetryAfterCase {
  readonly name: string
  readonly appliesTo: readonly Implementation[]
  readonly given: {
    readonly text: string
    /** The `retry-after` header. */
    readonly retryAfter?: string
    /** The `date` header. */
    readonly date?: string
    /** The `data` of the JSON-RPC error. */
    readonly data?: Json
  }
  /** The clock, in milliseconds since 1970. */
  readonly now?: number
  /** In milliseconds; null if there is no delay. */
  readonly expect: number | null
  readonly why: string
}

/** Codes that no single word overrides. Each word, in each sentence, with each code and method, is of the kind that the code says. */
export interface CodesAndWords {
  /** The kind of each code. */
  readonly codes: { readonly [code: string]: string }
  readonly methods: readonly string[]
  /** `WORD` is replaced by the word. */
  readonly sentences: readonly string[]
  readonly words: readonly string[]
}

/** Whether a method may be sent a second time when it is not known whether the first request arrived. */
export interface RepeatableCase {
  readonly name: string
  readonly appliesTo: readonly Implementation[]
  readonly method: string
  readonly expect: boolean
}

/** The expected outcome of one call of a batch. */
export interface BatchCaseCall {
  /** The result. */
  readonly result?: Json
  /** The failure kind. */
  readonly kind?: string
  readonly source?: string
  readonly retryable?: boolean
  /** The call does not complete with this response: the client sends it again. */
  readonly resent?: boolean
}

/** A response of a server to a batch, and the expected outcome of each call. */
export interface BatchCase {
  readonly name: string
  readonly appliesTo: readonly Implementation[]
  /** The calls, with ids 1, 2, 3 and so on. */
  readonly methods: readonly string[]
  readonly response: {
    readonly status: number
    /** By lower-case name. */
    readonly headers?: { readonly [name: string]: string }
    /** A string is the body's text; anything else is sent as JSON. */
    readonly body: Json
  }
  readonly expect: {
    /** In the order of `methods`. */
    readonly calls: readonly BatchCaseCall[]
    /** The maximum batch size for the calls that are sent again; absent if there are none. */
    readonly limit?: number
  }
  readonly why: string
}

/** An error of a provider for a range of logs, and the expected hint. */
export interface RangeHintCase {
  readonly name: string
  /** The origin of the wording, as in `FailureCase`. */
  readonly provider: string
  readonly appliesTo: readonly Implementation[]
  readonly response: {
    readonly status: number
    readonly error: { readonly code: number; readonly message: string; readonly data?: Json }
  }
  /** Empty if the error does not say which range would be accepted. */
  readonly expect: {
    /** No request may span more blocks than this. */
    readonly maxBlocks?: number
    /** The first and the last block of a range that is said to work. */
    readonly fromBlock?: number
    readonly toBlock?: number
    /** Whether there are too many addresses. */
    readonly tooManyAddresses?: boolean
  }
  readonly why: string
}

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
    readonly minBlock?: boolean
    readonly attemptTimeoutMs?: number
    readonly acceptableWaitMs?: number
    readonly breaker?: false | { readonly failures?: number; readonly openMs?: number; readonly deadMs?: number }
  }
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
    /** What each endpoint must receive, in order: its position, the method and the params. The last two are checked where present. */
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

/** The data of the node in `adapters.json`, the same for every case. */
export interface AdapterNode {
  readonly chainId: string
  readonly blockNumber: string
  /** Each has a different balance, so that a test notices a result of the wrong call. */
  readonly accounts: readonly { readonly address: string; readonly balance: string }[]
  readonly contract: {
    readonly address: string
    /** In the human-readable form. */
    readonly abi: readonly string[]
    /** The function to read, its call data, its result as bytes, and the decoded result. */
    readonly read: string
    readonly call: string
    readonly response: string
    readonly owner: string
    /** The custom error with which it reverts in some cases. */
    readonly revert: { readonly name: string; readonly args: readonly string[]; readonly data: string }
  }
  /** A signed transaction. Nobody has the key of its sender any more. */
  readonly transaction: { readonly raw: string; readonly hash: string; readonly from: string }
}

/** One entry of the response to a batch. */
export interface AdapterBatchEntry {
  /** The index of its call. Its id is used, and the correct result unless `result` or `error` is set. */
  readonly of?: number
  /** Replaces the id: the same number as a string, an unknown id, or null. */
  readonly id?: 'text' | 'foreign' | null
  readonly result?: Json
  readonly error?: Json
}

/**
 * A response of the server. Each request gets the first response that matches and is not used up; without one, the correct response.
 *
 * Placeholders in strings: `$ID` for the id of the call (as a whole string in JSON for the id itself), `$FOREIGN` for an unknown id, `$KEY` and
 * `$PATH` for the key and the path of the request, `$OTHER` for the origin of another server, `$IN2S` for an HTTP-date in two seconds.
 */
export interface AdapterResponse {
  /** Matches requests with a call of this method. */
  readonly for?: string
  /** Matches single calls about the account with this index. */
  readonly account?: number
  /** Matches batches only. */
  readonly batch?: true
  /** Matches batches of more calls than this. */
  readonly over?: number
  /** How many requests get this response. @default all */
  readonly times?: number
  /** The HTTP status. @default 200 */
  readonly status?: number
  /** By lower-case name. @default a content-type of JSON */
  readonly headers?: { readonly [name: string]: string }
  /** A string is the body's text; anything else is sent as JSON. @default the correct response */
  readonly body?: Json
  /** The responses to a batch, in this order. */
  readonly items?: readonly AdapterBatchEntry[]
  /** The node has accepted the transaction before this response. */
  readonly accepted?: true
  /** The delay before the response, in milliseconds. */
  readonly delayMs?: number
  /**
   * Replaces the response: the connection is reset (`resetReused`: only if it was used before), no response (`hang`), headers without a body
   * (`stall`), an endless body that arrives byte by byte (`drip`), or a body that ends in the middle (`cut`).
   */
  readonly fault?: 'reset' | 'resetReused' | 'hang' | 'stall' | 'drip' | 'cut'
}

/** An action of the user, independent of a library. */
export type AdapterAct =
  | {
      readonly act: 'blockNumber' | 'balance' | 'contractRead' | 'send'
      /** The correct result, if it is not that of the node. */
      readonly is?: Json
    }
  /** The balances of so many accounts, requested in the same tick, batched if the library can. */
  | { readonly act: 'balances'; readonly count: number }
  /** Actions in the same tick. */
  | { readonly act: 'together'; readonly acts: readonly AdapterAct[] }
  /** A block number, aborted once the server has the request. */
  | { readonly act: 'abort' }
  /** Any method, by the library's generic request function. */
  | { readonly act: 'request'; readonly method: string; readonly params: readonly Json[]; readonly is: Json }

/** The outcome of a call: the correct result, an error that is not a revert, either of these, the decoded revert, or the reason of an abort. */
export type AdapterEnd = 'right' | 'failure' | 'completed' | 'revert' | 'reason'

/** A behavior of the server, and what the user of a library must see. */
export interface AdapterCase {
  readonly name: string
  readonly group: string
  readonly appliesTo: readonly Implementation[]
  /** Where the case applies: to the library's own functions, to its generic request function, or both. @default both */
  readonly apis?: readonly ('library' | 'raw')[]
  /** Changes to the default options of the client. */
  readonly given?: {
    /** The chain id is not set. */
    readonly chainId?: false
    /** Calls of the same tick are batched. */
    readonly batch?: true
    /** The timeout of a call. */
    readonly timeoutMs?: number
  }
  readonly responses: readonly AdapterResponse[]
  /** In sequence. */
  readonly do: readonly AdapterAct[]
  /** Times are in milliseconds. Absent members are not checked. Every call must complete. */
  readonly expect: {
    /** One outcome for all calls, or one for each. */
    readonly ends: AdapterEnd | readonly AdapterEnd[]
    /** The number of HTTP requests that arrive. */
    readonly requests?: { readonly atLeast?: number; readonly atMost?: number }
    /** All methods that arrive, in order. */
    readonly methods?: readonly string[]
    /** How often each method arrives. */
    readonly counts?: { readonly [method: string]: number }
    /** The number of opened connections. */
    readonly connections?: { readonly atMost: number }
    /** The number of requests to the target of redirects. */
    readonly redirectedRequests?: 0
    /** A method that must not be in a batch. */
    readonly alone?: string
    /** The time between the first and the second request. */
    readonly waitMs?: { readonly atLeast: number; readonly atMost: number }
    /** The maximum duration of the case. */
    readonly withinMs?: number
    /** How long after the end no request may arrive. */
    readonly quietMs?: number
    /** A text that each error must contain somewhere. */
    readonly errorIncludes?: string
    /** Where the key must not appear. */
    readonly noKeyIn?: readonly ('error' | 'client' | 'console')[]
    /** Nothing is printed. */
    readonly prints?: false
  }
  readonly why: string
}

/** The cases for adapters and for the libraries' own providers: `adapters.json`. */
export const adapters: { readonly node: AdapterNode; readonly cases: readonly AdapterCase[] } =
  adapterCases as unknown as { readonly node: AdapterNode; readonly cases: readonly AdapterCase[] }

/** How responses to a batch are matched to its calls: `batches.json`. */
export const batches: readonly BatchCase[] = batchCases as readonly BatchCase[]

/** When calls are sent to an endpoint with a budget: `budgets.json`. */
export const budgets: readonly BudgetCase[] = budgetCases as unknown as readonly BudgetCase[]

/** Which results are cached: `caches.json`. */
export const caches: readonly CacheCase[] = cacheCases as unknown as readonly CacheCase[]

/** Codes that no single word overrides: `codesAndWords.json`. */
export const codesAndWords: CodesAndWords = codesAndWordsGrid

/** How failures are classified: `failures.json`. */
export const failures: readonly FailureCase[] = failureCases as readonly FailureCase[]

/** Real wordings that were collected after the rules were written, to measure them: `heldOut.json`. No rule is written for them. */
export const heldOut: readonly FailureCase[] = heldOutCases as readonly FailureCase[]

/** Real wordings of providers, nodes and proxies, in the form of `failures.json`: `wordings.json`. */
export const wordings: readonly FailureCase[] = wordingCases as readonly FailureCase[]

/** What an error says about the range of logs that would be accepted: `rangeHints.json`. */
export const rangeHints: readonly RangeHintCase[] = rangeHintCases as readonly RangeHintCase[]

/** Which methods are known reads: `repeatable.json`. */
export const repeatables: readonly RepeatableCase[] = repeatableCases as readonly RepeatableCase[]

/** How a requested delay is parsed: `retryAfter.json`. */
export const retryAfters: readonly RetryAfterCase[] = retryAfterCases as readonly RetryAfterCase[]

/** Which endpoint a call is sent to, and when it goes to another one: `routes.json`. */
export const routes: readonly RouteCase[] = routeCases as unknown as readonly RouteCase[]
