import adapterCases from '../adapters.json' with { type: 'json' }
import codesAndWordsGrid from '../codesAndWords.json' with { type: 'json' }
import batchCases from '../batches.json' with { type: 'json' }
import failureCases from '../failures.json' with { type: 'json' }
import rangeHintCases from '../rangeHints.json' with { type: 'json' }
import repeatableCases from '../repeatable.json' with { type: 'json' }
import retryAfterCases from '../retryAfter.json' with { type: 'json' }
import wordingCases from '../wordings.json' with { type: 'json' }

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** The implementations that run a case. */
export type Implementation = 'ts' | 'python'

/** One answer of a server to one call, and what must be decided of it. */
export interface FailureCase {
  readonly name: string
  /** Whose dialect it is: a provider, a proxy, a node, or `any` and `broken` for what is nobody's. */
  readonly provider: string
  /**
   * Rules are written for the first half and measured on the second. A provider is in one half only: in the second if the first byte of the
   * SHA-256 of its name is odd.
   */
  readonly half: 'first' | 'second'
  /** Where the wording comes from: a repository with the path, or a page. Every case of `wordings.json` has it. */
  readonly origin?: string
  readonly appliesTo: readonly Implementation[]
  /** The call, always with id 1. In a batch the body is either the refusal of the whole, or the answer to this one item. */
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
    /** Absent where no wait was asked for. */
    readonly retryAfterMs?: number
    /** Checked where present. */
    readonly rpcError?: { readonly code: number; readonly message: string; readonly data?: Json }
    /** Parts that the error's message has. */
    readonly messageHolds?: readonly string[]
    /** Parts that the error's message must not have. */
    readonly messageLacks?: readonly string[]
  }
  /** Why it has to be decided so. */
  readonly why: string
}

/** One way of asking to wait, and how long that is. */
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
  /** In milliseconds; null where nothing was asked. */
  readonly expect: number | null
  readonly why: string
}

/** Codes that no single word overrules. Each word, in each sentence, with each code and method, is of the kind that the code says. */
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

/** How one call of a batch must end. */
export interface BatchCaseCall {
  /** What it is answered. */
  readonly result?: Json
  /** How it fails. */
  readonly kind?: string
  readonly source?: string
  readonly retryable?: boolean
  /** It is not settled by this answer: it is sent again. */
  readonly again?: boolean
}

/** One answer of a server to a batch, and what must become of each call. */
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
    /** How many of the calls that are sent again go together at most; absent where none is. */
    readonly limit?: number
  }
  readonly why: string
}

/** How one provider refuses a range of logs, and what must be read out of it. */
export interface RangeHintCase {
  readonly name: string
  /** Whose dialect it is, as in `FailureCase`. */
  readonly provider: string
  readonly appliesTo: readonly Implementation[]
  readonly response: {
    readonly status: number
    readonly error: { readonly code: number; readonly message: string; readonly data?: Json }
  }
  /** Empty where it says nothing about the range that would be taken. */
  readonly expect: {
    /** No request may span more blocks than this. */
    readonly maxBlocks?: number
    /** The first and the last block of a range that is said to work. */
    readonly fromBlock?: number
    readonly toBlock?: number
    /** It is the addresses that are too many. */
    readonly tooManyAddresses?: boolean
  }
  readonly why: string
}

/** What the node of `adapters.json` knows: it is the same for every case. */
export interface AdapterNode {
  readonly chainId: string
  readonly blockNumber: string
  /** Each with a balance of its own, so that one that went to the wrong call is seen. */
  readonly accounts: readonly { readonly address: string; readonly balance: string }[]
  readonly contract: {
    readonly address: string
    /** In the human-readable form. */
    readonly abi: readonly string[]
    /** The function that is read, its call data, its answer as bytes, and what that means. */
    readonly read: string
    readonly call: string
    readonly response: string
    readonly owner: string
    /** The error of its own with which it reverts in some cases. */
    readonly revert: { readonly name: string; readonly args: readonly string[]; readonly data: string }
  }
  /** A signed transaction. Nobody has the key of its sender any more. */
  readonly transaction: { readonly raw: string; readonly hash: string; readonly from: string }
}

/** One item of an answer to a batch. */
export interface AdapterItem {
  /** The call that it answers, counted from 0; its id is used, and the true result where nothing else is said. */
  readonly of?: number
  /** In place of the call's id: the same number as a text, one that nobody gave, or null. */
  readonly id?: 'text' | 'foreign' | null
  readonly result?: Json
  readonly error?: Json
}

/**
 * How the server answers. Of the answers of a case the first that fits a request and is not used up is given; where none is left, the true one.
 *
 * In texts stand: `$ID` for the id of the call (as a whole string in JSON for the id itself), `$FOREIGN` for one that nobody gave, `$KEY` and
 * `$PATH` for the key and the path of the request, `$OTHER` for the origin of another server, `$IN2S` for an HTTP-date in two seconds.
 */
export interface AdapterAnswer {
  /** Fits requests with a call of this method. */
  readonly for?: string
  /** Fits lone calls about this one of the accounts, counted from 0. */
  readonly account?: number
  /** Fits batches only. */
  readonly batch?: true
  /** Fits batches of more calls than this. */
  readonly over?: number
  /** How many requests it answers. @default all */
  readonly times?: number
  /** Of HTTP. @default 200 */
  readonly status?: number
  /** By lower-case name. @default a content-type of JSON */
  readonly headers?: { readonly [name: string]: string }
  /** A string is the body's text; anything else is sent as JSON. @default the true answer */
  readonly body?: Json
  /** The answers to a batch, in this order. */
  readonly items?: readonly AdapterItem[]
  /** The node has taken the transaction before this happens. */
  readonly taken?: true
  /** Waits before it answers, in milliseconds. */
  readonly delayMs?: number
  /**
   * What happens in place of an answer: the connection is broken off (`resetReused`: where it carried a request before), nothing ever comes,
   * the headers come and nothing more (`stall`), the body comes a byte at a time without end (`drip`), or is broken off in the middle (`cut`).
   */
  readonly fault?: 'reset' | 'resetReused' | 'hang' | 'stall' | 'drip' | 'cut'
}

/** What the user does, in no library's words. */
export type AdapterAct =
  | {
      readonly act: 'blockNumber' | 'balance' | 'contractRead' | 'send'
      /** What the right answer is, where it is not the node's. */
      readonly is?: Json
    }
  /** The balances of that many accounts, asked in the same tick, in the way of the library for calls that go together. */
  | { readonly act: 'balances'; readonly count: number }
  /** Acts in the same tick. */
  | { readonly act: 'together'; readonly acts: readonly AdapterAct[] }
  /** A block number, given up once the server has the request. */
  | { readonly act: 'abort' }
  /** Any method, by the raw face. */
  | { readonly act: 'request'; readonly method: string; readonly params: readonly Json[]; readonly is: Json }

/** How a call ends: with the right answer, with an error that is no revert, with either, with the decoded revert, with the reason of an abort. */
export type AdapterEnd = 'right' | 'failure' | 'settled' | 'revert' | 'reason'

/** What a server does to a user of a library, and what the user must see. */
export interface AdapterCase {
  readonly name: string
  readonly group: string
  readonly appliesTo: readonly Implementation[]
  /** The faces that differ in it: the library's own functions, and its way to make any call. @default both */
  readonly faces?: readonly ('library' | 'raw')[]
  /** How the client is made, where it is not by its defaults with the chain id given. */
  readonly given?: {
    /** The chain id is not given. */
    readonly chainId?: false
    /** Calls of the same tick are joined. */
    readonly batch?: true
    /** The time that a call may take. */
    readonly timeoutMs?: number
  }
  readonly responses: readonly AdapterAnswer[]
  /** One after another. */
  readonly do: readonly AdapterAct[]
  /** Times are in milliseconds. What is not said is not checked, but that every call ends. */
  readonly expect: {
    /** Of every call, or of each. */
    readonly ends: AdapterEnd | readonly AdapterEnd[]
    /** HTTP requests that arrive. */
    readonly requests?: { readonly atLeast?: number; readonly atMost?: number }
    /** The methods that arrive, in this order and no others. */
    readonly methods?: readonly string[]
    /** How often a method arrives. */
    readonly counts?: { readonly [method: string]: number }
    /** Connections that are opened. */
    readonly connections?: { readonly atMost: number }
    /** Requests to the server that redirects lead to. */
    readonly elsewhere?: 0
    /** A method that is in no batch. */
    readonly alone?: string
    /** Between the first request and the second. */
    readonly waitMs?: { readonly atLeast: number; readonly atMost: number }
    /** All of it. */
    readonly withinMs?: number
    /** For so long after the end nothing more is asked. */
    readonly quietMs?: number
    /** A word that can be read somewhere in each error. */
    readonly tells?: string
    /** Where the key is not to be found. */
    readonly noKeyIn?: readonly ('error' | 'client' | 'console')[]
    /** Nothing is printed. */
    readonly prints?: false
  }
  readonly why: string
}

/** What an adapter, and a library's own provider, is put through: `adapters.json`. */
export const adapters: { readonly node: AdapterNode; readonly cases: readonly AdapterCase[] } =
  adapterCases as unknown as { readonly node: AdapterNode; readonly cases: readonly AdapterCase[] }

/** How the answers to a batch are paired with its calls: `batches.json`. */
export const batches: readonly BatchCase[] = batchCases as readonly BatchCase[]

/** Which codes no single word overrules: `codesAndWords.json`. */
export const codesAndWords: CodesAndWords = codesAndWordsGrid

/** How failures are classified: `failures.json`. */
export const failures: readonly FailureCase[] = failureCases as readonly FailureCase[]

/** Real wordings of providers, nodes and proxies, in the form of `failures.json`: `wordings.json`. */
export const wordings: readonly FailureCase[] = wordingCases as readonly FailureCase[]

/** What a refusal of a range of logs says about the range that would be taken: `rangeHints.json`. */
export const rangeHints: readonly RangeHintCase[] = rangeHintCases as readonly RangeHintCase[]

/** Which methods are known reads: `repeatable.json`. */
export const repeatables: readonly RepeatableCase[] = repeatableCases as readonly RepeatableCase[]

/** How a wait is read: `retryAfter.json`. */
export const retryAfters: readonly RetryAfterCase[] = retryAfterCases as readonly RetryAfterCase[]
