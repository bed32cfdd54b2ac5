import type { RequestTrace } from '../requestTracer.ts'
import type { ByteBudget } from './createUpstream.ts'
import type { SubscriptionCalls } from '../subscription/subscriptionCalls.ts'
import type { UpstreamGroup } from './createUpstreamGroup.ts'

/** The parts of a request that a call needs. */
export interface ProxyOptions {
  readonly group: UpstreamGroup
  /** The caller's key. Filters belong to a key, and so do the changes that its reads must see. */
  readonly keyId: string
  /** The key's owner. The calls in flight of all keys of an owner are bounded together. */
  readonly ownerId: string
  /** The version of the key's settings. It changes whenever they change. */
  readonly keyVersion?: number | undefined
  readonly timeoutMs: number
  readonly deadlineMs?: number | undefined
  /** How many more bytes of responses this request may read. */
  readonly budget: ByteBudget
  readonly maxResponseBytes: number
  /** The newest block that the caller has seen: its reads go to nodes that have it, if any does. `undefined` if there is only one node. */
  readonly seenHead?: number | undefined
  /** The newest block that the caller says it has seen. */
  readonly claimedHead?: number | undefined
  /** Handles subscription calls; `undefined` if the request cannot subscribe. */
  readonly subscriptions?: SubscriptionCalls | undefined
  /** Whether a result may be streamed to the caller. Otherwise it is buffered. */
  readonly streams: boolean
  /** Called each time the call is sent to a node, directly or as another caller's identical read. */
  readonly sent?: (() => void) | undefined
  /** The trace of the request; `undefined` if it is not traced. */
  readonly trace?: RequestTrace | undefined
}
