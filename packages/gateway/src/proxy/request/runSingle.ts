import type { Rejection } from '../../errors/rejection.ts'
import type { CallScope } from '../call/callScope.ts'
import type { ForwardedCall } from '../upstream/forwardedCall.ts'
import { proxyCall } from '../upstream/proxyCall.ts'
import { isRejection } from './responseParts.ts'
import type { RunListener } from './runBatch.ts'

/**
 * Runs a single call, as `runBatch` runs those of a batch.
 * @returns Cancels a read. A write continues after its caller disconnects, because a node may have received it. It is counted when it ends.
 */
export const runSingle = (
  [call]: readonly (ForwardedCall | Rejection)[],
  scope: CallScope,
  { done, unsent }: RunListener,
): (() => void) | undefined => {
  if (call === undefined || isRejection(call)) return undefined
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
