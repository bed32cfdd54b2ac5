import type { CallOptions } from '../../schema/callOptions.ts'
import type { CallEvent } from './callEvent.ts'
import type { CallProgress } from './callProgress.ts'
import type { QueueEntry } from './queue.ts'

export type { CallOptions, Priority } from '../../schema/callOptions.ts'

/** The method and params of a call: EIP-1193 request arguments. Params are by position or by name, as in JSON-RPC 2.0 section 4.2. */
export interface RequestArguments {
  readonly method: string
  readonly params?: readonly unknown[] | Readonly<Record<string, unknown>> | undefined
}

/**
 * One call on its way down the layers. All layers share one record, so that a call costs one allocation.
 */
export interface Call {
  readonly method: string
  /** The params as JSON text, created once. It becomes part of the body and, for reads, identifies the call. */
  readonly params: string
  /** The options of the caller. Each layer reads its own. */
  readonly options: CallOptions
  /** Calls with the same object are sent to the same endpoint. */
  readonly group: object | undefined
  /** Calls with the same object were passed to one `transport.batch([…])`. */
  readonly batch: object | undefined
  /** Reports an event of the call to the observers; undefined if there are none. */
  emit: ((event: CallEvent) => void) | undefined
  /** How long it has waited in our queues, and where it was tried. */
  readonly progress: CallProgress
  /** When the caller started it, as `now()` counts; 0 for a call that a layer created. */
  startedAt: number
  /** Its part of the HTTP request: 1, or one hundredth in a batch of a hundred. */
  share: number
  /** The deadline, as `callTime` counts. */
  deadlineAt: number
  /** Set when the call was ended by its deadline, an abort or a close. No layer starts new work for it. */
  ended: boolean
  /** Stops the work in flight and completes the call with the reason. Set by the layer that works on the call now. */
  cancel: ((reason: unknown) => void) | undefined
  /** Its neighbours in the list of calls in flight, which closing goes through. */
  before: QueueEntry | undefined
  after: QueueEntry | undefined
}

/** A call as failover passes it on. */
export type RouteCall = Call & {
  /** Set if the circuit breakers of all endpoints are open: the breaker sends the call all the same. */
  readonly bypassesBreaker?: boolean | undefined
}

/** How a call ends: `true` with the result, `false` with the reason it failed. Called exactly once. */
export type Complete = (ok: boolean, value: unknown) => void

/** Sends a call, and calls `complete` when it ends. Until then, `call.cancel` must stop it. */
export type Send = (call: Call, complete: Complete) => void

/** The facts about a transport that its layers can use. */
export interface LayerContext {
  /** The URL of the first endpoint without its key. */
  readonly redactedUrl: string
  /** The chain id, if it was configured. */
  readonly chainId?: number | undefined
}

/** One layer of a transport. It receives the function that sends a call to the layer below, and returns its own. */
export type Layer = (next: Send, context: LayerContext) => Send
