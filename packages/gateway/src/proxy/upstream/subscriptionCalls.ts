import type { CallDone } from './callResult.ts'
import type { ForwardedCall } from './forwardedCall.ts'

/** Handles the subscription calls of one connection. */
export interface SubscriptionCalls {
  /** Runs `eth_subscribe` or `eth_unsubscribe`. @param done - Called once, unless the connection closes first. */
  readonly run: (call: ForwardedCall, done: CallDone) => void
  /**
   * Holds notifications back, until the returned function is called: a batch is responded to as a whole, and a caller should know the id of a
   * subscription before its first notification.
   */
  readonly hold: () => () => void
}
