import type { FailureKind } from '../failure/failureKind.ts'
import type { Call, CallOptions } from './call.ts'

/** Who goes first where calls must wait. */
export type Priority = 'write' | 'read' | 'poll'

/** What a call may say of itself to route, budget and breaker, beyond its text. */
export type RouteCall = Call & {
  readonly options: CallOptions & {
    readonly priority?: Priority | undefined
    readonly minBlock?: number | bigint | boolean | undefined
  }
  /** Calls with the same object belong together: they are asked of the same endpoint. */
  readonly group?: object | undefined
  /** Calls with the same object were given as one batch. */
  readonly batch?: object | undefined
  readonly note?: ((event: RouteEvent) => void) | undefined
  /** Since when the call waits in a queue of ours, on the clock of `performance.now()`: its deadline does not come nearer meanwhile. */
  waitingSince?: number | undefined
  /** The record that works for this one now: whether it waits, and its deadline, are read there. */
  below?: RouteCall | undefined
  /** Set by route where every endpoint is out of order: an open breaker lets it pass. */
  readonly insist?: boolean | undefined
}

/** What route and budget tell of a call. */
export type RouteEvent =
  | { readonly type: 'queued'; readonly label: string; readonly waitMs: number }
  | { readonly type: 'rerouted'; readonly label: string; readonly kind: FailureKind }
  | { readonly type: 'hedged'; readonly label: string }
