import type { FailureKind } from '../../failure/failureKind.ts'

/** An event of a call, reported by the layers. Never contains params, results, a key or a full URL. */
export type CallEvent =
  /** A request was sent, with `batchSize` calls in it. */
  | { readonly type: 'attempt'; readonly redactedUrl: string; readonly batchSize: number }
  /** The request ended. `kind` is the kind of failure, or undefined if it succeeded. */
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
  /** The call moves to another endpoint. `redactedUrl` is the endpoint that failed. */
  | { readonly type: 'rerouted'; readonly redactedUrl: string; readonly kind: FailureKind }
  | { readonly type: 'hedged'; readonly redactedUrl: string }
  /** The call completed for its caller. Reported by `observe`. `kind` and `failure` are undefined if it succeeded. */
  | {
      readonly type: 'ended'
      readonly durationMs: number
      readonly kind: FailureKind | undefined
      readonly failure: unknown
    }
