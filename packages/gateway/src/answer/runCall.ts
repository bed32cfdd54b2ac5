import type { ByteBudget } from '../upstream/createUpstream.ts'
import type { UpstreamGroup } from '../upstream/createUpstreamGroup.ts'
import { forwardCall } from '../upstream/forwardCall.ts'
import type { CallEnd, ForwardedCall } from '../upstream/forwardCall.ts'

/** What the calls of one request need to be run. */
export interface CallContext {
  readonly group: UpstreamGroup
  /** Whose calls these are: what one key does is never another's. */
  readonly keyId: string
  readonly timeoutMs: number
  readonly maxAnswerBytes: number
  readonly budget: ByteBudget
}

/** Stops what may be stopped. */
export type Cancel = () => void

const nothing: Cancel = () => {}

/**
 * Runs one call that was admitted.
 * @param done - Called once; not after a cancel. A call that changes something is not cancelled: it may have been done already.
 */
export const runCall = (call: ForwardedCall, context: CallContext, done: (end: CallEnd) => void): Cancel => {
  const cancel = forwardCall(call, context, done)
  return call.traits.idempotent ? cancel : nothing
}
