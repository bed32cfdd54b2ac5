import type { MethodTraits } from '../method/createMethodPolicy.ts'
import type { RequestTrace } from '../requestTracer.ts'
import type { PickOptions } from './chooseUpstream.ts'
import type { ByteBudget } from './createUpstream.ts'
import type { UpstreamGroup } from './createUpstreamGroup.ts'
import type { GroupMember } from './groupMember.ts'

/** A call that may be forwarded. */
export interface ForwardedCall {
  /** A name from the method policy, so plain ASCII. */
  readonly method: string
  /** Source text. */
  readonly params: string | undefined
  readonly traits: MethodTraits
}

/** How to forward a call. */
export interface ForwardOptions {
  readonly group: UpstreamGroup
  /** The caller's key. The call waits in its queue if the key or its owner has too many calls in flight. */
  readonly keyId: string
  readonly ownerId: string
  /** For all attempts together, in milliseconds. */
  readonly timeoutMs: number
  /** The rest of the timeout, if some of it has passed. */
  readonly deadlineMs?: number | undefined
  /** How many bytes the response may have. */
  readonly budget: ByteBudget
  readonly maxResponseBytes: number
  /** Called each time the call is sent to a node. */
  readonly sent?: (() => void) | undefined
  /** The trace of the request; `undefined` if it is not traced. */
  readonly trace?: RequestTrace | undefined
  /** The only upstream that may get the call. */
  readonly only?: GroupMember | undefined
  /** The newest block that the caller has seen. Upstreams that have it come first. */
  readonly seenHead?: number | undefined
  /** Called when a result grows large: whether it may become a stream. @default never */
  readonly mayStream?: (() => boolean) | undefined
}

/** Gets what a call needs of an upstream. */
export const toPickOptions = ({ method, params, traits }: ForwardedCall, more?: PickOptions): PickOptions => ({
  method,
  params,
  units: traits.weight,
  ...more,
})

let lastWireId = 0

/**
 * Takes consecutive ids for calls to nodes, and returns the first. Calls never keep their callers' ids: those can be anything, and two callers
 * may use the same one.
 */
export const takeWireIds = (count: number): number => {
  const first = lastWireId + count > 999_999_999 ? 1 : lastWireId + 1
  lastWireId = first + count - 1
  return first
}

/** Serializes a call for a node. Missing params become an empty list, because some nodes require one. */
export const toWireText = (call: ForwardedCall, wireId: string | number): string =>
  `{"jsonrpc":"2.0","id":${wireId},"method":"${call.method}","params":${call.params ?? '[]'}}`
