import { isRejection } from '../../errors/rejection.ts'
import type { CallScope } from '../call/callScope.ts'
import type { CheckedCall, RunListener } from './callResult.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import { proxyCall } from './proxyCall.ts'
import { runBatch } from './runBatch.ts'

/**
 * Runs the calls of a request. No other function leads from the steps of a request to the nodes.
 * @param calls - One, if `isBatch` is false. Those that were rejected keep their place.
 * @returns Cancels the reads. A write continues after its caller disconnects, because a node may have received it; `undefined` if it is a single one.
 */
export const runCalls = (
  calls: readonly CheckedCall[],
  scope: CallScope,
  isBatch: boolean,
  listener: RunListener,
): (() => void) | undefined => {
  if (isBatch) return runBatch(calls, scope, listener)
  const [call] = calls
  return call === undefined || isRejection(call) ? undefined : runSingle(call, scope, listener)
}

const runSingle = (call: ForwardedCall, scope: CallScope, { done, unsent }: RunListener): (() => void) | undefined => {
  const { idempotent, weight } = call.traits
  /** A node may have received it, or it has been returned to the quota. */
  let counts = false
  const sent = (): void => void (counts = true)
  const cancel = proxyCall(call, scope, { sent }, (result) => {
    if (isRejection(result) && !counts) unsent(weight)
    // The caller of a completed call may still disconnect.
    counts = true
    done([result])
  })
  if (!idempotent) return undefined
  return () => {
    cancel()
    if (!counts) unsent(weight)
    counts = true
  }
}
