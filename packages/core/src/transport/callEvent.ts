import type { FailureKind } from '../failure/failureKind.ts'

/** What layers tell of a call on its way. Data only: never params, results, a key or an address. */
export type CallEvent =
  /** A request is sent, with so many calls in it. */
  | { readonly type: 'attempt'; readonly redactedUrl: string; readonly batchSize: number }
  /** It ended: well, or with a failure of that kind. */
  | {
      readonly type: 'attempted'
      readonly redactedUrl: string
      readonly durationMs: number
      readonly kind?: FailureKind | undefined
    }
  | { readonly type: 'retry'; readonly kind: FailureKind; readonly waitMs: number }
  | { readonly type: 'queued'; readonly redactedUrl: string; readonly waitMs: number }
  | { readonly type: 'joined' }
  | { readonly type: 'cached' }
  /** `redactedUrl` is of the endpoint that failed. */
  | { readonly type: 'rerouted'; readonly redactedUrl: string; readonly kind: FailureKind }
  | { readonly type: 'hedged'; readonly redactedUrl: string }
  /** The call is over, for its caller: with that failure, of that kind, or well. By `observe`, to those who watch the call. */
  | {
      readonly type: 'ended'
      readonly durationMs: number
      readonly kind: FailureKind | undefined
      readonly failure: unknown
    }
