import { proxyCall } from '../upstream/proxyCall.ts'
import type { ProxyOptions } from '../upstream/proxyOptions.ts'
import type { ForwardedCall } from '../upstream/forwardCall.ts'
import type { CallResult } from '../upstream/callResult.ts'

/** What the calls of one request need to be run. */
export type CallContext = ProxyOptions

/** Stops what may be stopped. */
export type Cancel = () => void

const nothing: Cancel = () => {}

/**
 * Runs one call that was admitted.
 * @param done - Called once; not after a cancel. A call that changes something is not cancelled: it may have been done already.
 */
export const runCall = (call: ForwardedCall, context: CallContext, done: (end: CallResult) => void): Cancel => {
  const cancel = proxyCall(call, context, done)
  return call.traits.idempotent ? cancel : nothing
}
