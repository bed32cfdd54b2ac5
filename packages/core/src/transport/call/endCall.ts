import { createFailure } from '../../failure/createFailure.ts'
import type { FailureKind } from '../../failure/failureKind.ts'
import { KeyrailError } from '../../failure/keyrailError.ts'
import type { Call } from './call.ts'
import { triedEndpoints } from './triedEndpoints.ts'

/**
 * Ends a call: stops its work in flight, and no layer starts new work for it.
 *
 * @param call - The call. If it has completed, nothing happens.
 * @param redactedUrl - The URL for the error message, without its key.
 * @param kind - The kind of failure with which it ends.
 * @param text - The message of the failure.
 */
export function endCall(call: Call, redactedUrl: string, kind: FailureKind, text: string): void {
  call.ended = true
  const failure = createFailure({ kind, text }, { method: call.method, redactedUrl })
  const tried = kind === 'timeout' ? triedEndpoints(call) : ''
  call.cancel?.(tried ? new KeyrailError(`${failure.message} ${tried}`, failure) : failure)
}
