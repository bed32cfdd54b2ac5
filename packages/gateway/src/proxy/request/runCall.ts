import { carryCall } from '../upstream/proxyCall.ts'
import type { CarryOptions } from '../upstream/proxyOptions.ts'
import type { ForwardedCall } from '../upstream/forwardCall.ts'
import type { CallEnd } from '../upstream/callResult.ts'

/** What the calls of one request need to be run. */
export type CallContext = CarryOptions

/** Stops what may be stopped. */
export type Cancel = () => void

const nothing: Cancel = () => {}

/**
 * Runs one call that was admitted.
 * @param done - Called once; not after a cancel. A call that changes something is not cancelled: it may have been done already.
 */
export const runCall = (call: ForwardedCall, context: CallContext, done: (end: CallEnd) => void): Cancel => {
  const cancel = carryCall(call, context, done)
  return call.traits.idempotent ? cancel : nothing
}
