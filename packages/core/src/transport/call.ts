import type { CallOptions } from '../schema/callOptions.ts'
import type { CallEvent } from './callEvent.ts'
import type { QueueEntry } from './queue.ts'

export type { CallOptions, Priority } from '../schema/callOptions.ts'

/** The method and params of a call: EIP-1193 request arguments. Params are by position or by name, as in JSON-RPC 2.0 section 4.2. */
export interface RequestArguments {
  readonly method: string
  readonly params?: readonly unknown[] | Readonly<Record<string, unknown>> | undefined
}

/**
 * One call on its way down the layers. One record is made at the door and shared by all layers, so that a call costs one allocation.
 */
export interface Call {
  readonly method: string
  /** The params as JSON text, made once: it is the body's part and, for reads, the identity of the call. */
  readonly params: string
  /** What the caller asked for; layers read their own parts of it. */
  readonly options: CallOptions
  /** Calls with the same object belong together: they are asked of the same endpoint. */
  readonly group: object | undefined
  /** Calls with the same object were given as one batch. */
  readonly batch: object | undefined
  /** Told of what happens to the call; undefined where nobody listens. */
  note: ((event: CallEvent) => void) | undefined
  /** Since when the call waits in a queue, as `now()` counts. This time does not count against its deadline. */
  waitingSince: number | undefined
  /** How long it has waited in queues of ours, in milliseconds, together. */
  waitedMs: number
  /** How much of what the records below it have waited is in its deadline already, in milliseconds. */
  creditedMs: number
  /** The record that works for this one now, where a layer made another: whether it waits is read there. */
  below: Call | undefined
  /** The endpoint that it is at now, if there are several: its redacted URL. */
  endpoint: string | undefined
  /** The endpoints that it was tried at, if one of several failed: redacted URLs, each with its last kind of failure. */
  tried: Map<string, string> | undefined
  /** When the caller made it, as `now()` counts; 0 for a call of our own. */
  startedAt: number
  /** Which part of its HTTP request it is: 1, and in a batch of a hundred one hundredth. */
  share: number
  /** When the deadline strikes, as `now()` counts. */
  deadlineAt: number
  /** Set once the call was ended from above (deadline, abort, close): no layer starts anything anew. */
  ended: boolean
  /** Stops what is under way and settles with the reason given. Kept by whichever layer is working on the call now. */
  cancel: ((reason: unknown) => void) | undefined
  /** Its neighbours among the calls under way, by which closing finds them all. */
  before: QueueEntry | undefined
  after: QueueEntry | undefined
}

/** How a call ends: `true` with the result, `false` with the reason it failed. Called exactly once. */
export type Settle = (ok: boolean, value: unknown) => void

/** Takes a call and settles it. Until it settles, `call.cancel` must stop it. */
export type Send = (call: Call, settle: Settle) => void

/** What a layer may know of the transport that it is part of. */
export interface LayerContext {
  /** The URL of the first endpoint without its key. */
  readonly redactedUrl: string
  /** The chain id, if it was configured. */
  readonly chainId?: number | undefined
}

/** One layer of a transport. It receives the function that sends a call to the layer below, and returns its own. */
export type Layer = (next: Send, context: LayerContext) => Send
