import adapterCases from '../adapters.json' with { type: 'json' }
import type { Json } from './json.ts'
import type { Implementation } from './failureCases.ts'

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
  /** A signed transaction. The key of its sender was deleted. */
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
  /** The balances of this many accounts, requested in the same tick, batched if the library can. */
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
  /** The functions that the case applies to: the library's own functions, its generic request function, or both. @default both */
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
    /** The values in which the key must not appear. */
    readonly noKeyIn?: readonly ('error' | 'client' | 'console')[]
    /** Nothing is printed. */
    readonly prints?: false
  }
  readonly why: string
}

/** The cases for adapters and for the libraries' own providers: `adapters.json`. */
export const adapters: { readonly node: AdapterNode; readonly cases: readonly AdapterCase[] } =
  adapterCases as unknown as { readonly node: AdapterNode; readonly cases: readonly AdapterCase[] }
