import type { RequestTrace } from '../requestTracer.ts'
import type { SubscriptionCalls } from './subscriptionCalls.ts'
import type { CallDone, CallsDone } from './callResult.ts'
import type { ByteBudget } from './postRequest.ts'
import type { UpstreamGroup } from './createUpstreamGroup.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import type { GroupMember } from './groupMember.ts'
import type { BlockRange } from './logs/createLogPlan.ts'
import type { SharedRead } from './sharedRead.ts'

/** What the calls of a request share. It is created once for each request. */
export interface CallScope {
  readonly group: UpstreamGroup
  /** The caller's key. Its calls wait in its queue if it, or its owner, has too many in flight. Filters and views of the chain belong to it too. */
  readonly keyId: string
  /** The key's owner. The calls in flight of all keys of an owner are bounded together. */
  readonly ownerId: string
  /** The version of the key's settings. It changes whenever they change. */
  readonly keyVersion?: number | undefined
  /** For all attempts at a call together, in milliseconds. */
  readonly timeoutMs: number
  readonly maxResponseBytes: number
  /** How many more bytes of responses this request may read. */
  readonly budget: ByteBudget
  /** The newest block that the caller has seen; `undefined` if there is only one node. */
  readonly seenHead?: number | undefined
  /** The newest block that the caller says it has seen. */
  readonly claimedHead?: number | undefined
  /** Whether a result may be streamed to the caller. Otherwise it is buffered. */
  readonly streams: boolean
  /** Handles subscription calls; `undefined` if the request cannot subscribe. */
  readonly subscriptions?: SubscriptionCalls | undefined
  /** The trace of the request; `undefined` if it is not traced. */
  readonly trace?: RequestTrace | undefined
}

/** Where logs are from. */
export interface LogSource {
  readonly member: GroupMember
  /** When the node was asked, by `performance.now`. */
  readonly at: number
}

/** What differs between the calls of a request, and between the times that a call is sent. */
export interface SendOptions {
  /** The rest of the timeout, in milliseconds. @default the timeout */
  readonly deadlineMs?: number | undefined
  /** The block that its node should have: upstreams that have it come first. */
  readonly neededHead?: number | undefined
  /** Called each time it is sent to a node, directly or as another caller's identical read. */
  readonly sent?: (() => void) | undefined
  /** How its result may be shared with other calls; `undefined` if it may not. */
  readonly read?: SharedRead | undefined
  /** Whether identical reads of other callers may wait for it. @default false */
  readonly mayLead?: boolean | undefined
  /** Whether the chain store has been found not to have its result. @default false */
  readonly isMissing?: boolean | undefined
  /** The only upstream that may get it. */
  readonly only?: GroupMember | undefined
  /** To how many upstreams a write is sent at once. @default 1 */
  readonly copies?: number | undefined
  /** Called when a result grows large: whether it may become a stream. @default never */
  readonly mayStream?: (() => boolean) | undefined
  /** Called with each part of logs that are read in parts, when it arrives. */
  readonly receivedLogs?: ((range: BlockRange, result: Uint8Array, source: LogSource) => void) | undefined
}

/**
 * Sends a call.
 * @param done - Called once, and not after the returned function was called.
 * @returns A function that stops the call.
 */
export type SendCall = (call: ForwardedCall, scope: CallScope, options: SendOptions, done: CallDone) => () => void

/**
 * Sends calls together.
 * @param done - Called once for each call, and not after the returned function was called.
 * @returns A function that stops the calls.
 */
export type SendCalls = (
  calls: readonly ForwardedCall[],
  scope: CallScope,
  options: SendOptions,
  done: CallsDone,
) => () => void
