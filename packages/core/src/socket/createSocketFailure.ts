import { createFailure } from '../failure/createFailure.ts'
import type { FailureContext, FailureFacts } from '../failure/createFailure.ts'
import { isReadMethod } from '../failure/isReadMethod.ts'
import { KeyrailError } from '../failure/keyrailError.ts'

/**
 * Creates the failure of a call whose connection ended.
 *
 * The end of a connection says nothing about a write that was sent: a service that revokes a key has perhaps forwarded it before. Its failure is
 * therefore of kind `network`, not retryable, as if an HTTP connection had broken. A subscription ends with its connection, so `eth_subscribe`
 * may always be repeated.
 *
 * @param facts - Why the connection ended.
 * @param context - The call and its endpoint.
 * @param isSent - Whether the call was sent.
 */
export function createSocketFailure(facts: FailureFacts, context: FailureContext, isSent: boolean): KeyrailError {
  const { method } = context
  if (isSent && method !== 'eth_subscribe' && !isReadMethod(method)) {
    const text = `the connection ended before the response, so the call may have run: ${facts.text}`
    return createFailure({ kind: 'network', text }, context)
  }
  const failure = createFailure({ ...facts, unsent: !isSent }, context)
  // The kind of a close code is known without the classification, but it was the server that sent it.
  return facts.rpcError && failure.source === 'client'
    ? new KeyrailError(failure.message, { ...failure, source: 'service' })
    : failure
}
