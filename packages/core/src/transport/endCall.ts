import { createFailure } from '../failure/createFailure.ts'
import type { FailureKind } from '../failure/failureKind.ts'
import { KeyrailError } from '../failure/keyrailError.ts'
import type { Call } from './call.ts'
import { triedEndpoints } from './triedEndpoints.ts'

/**
 * Ends a call from this side: stops what is under way, and lets no layer start anything anew.
 *
 * @param call - The call; nothing happens where it has settled already.
 * @param redactedUrl - What may be printed of the address.
 * @param kind - Why it ends.
 * @param text - The same in words.
 */
export function endCall(call: Call, redactedUrl: string, kind: FailureKind, text: string): void {
  call.ended = true
  const failure = createFailure({ kind, text }, { method: call.method, redactedUrl })
  const tried = kind === 'timeout' ? triedEndpoints(call) : ''
  call.cancel?.(tried ? new KeyrailError(`${failure.message} ${tried}`, failure) : failure)
}
