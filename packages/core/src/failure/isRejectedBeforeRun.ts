import type { FailureKind } from './failureKind.ts'
import type { KeyrailError } from './keyrailError.ts'

/**
 * Kinds of failure with which a server rejects a call before a node runs it. `throttled` is not one of them: the words "too many requests" may come
 * from a proxy that has forwarded the call already. If the status or the code proves that it was not forwarded, the failure is `retryable`.
 */
const rejectionKinds: ReadonlySet<FailureKind> = new Set([
  'auth',
  'forbidden',
  'quota',
  'methodUnavailable',
  'wrongNetwork',
  'invalidRequest',
  'batchTooLarge',
  'aborted',
])

/** Codes of JSON-RPC 2.0 with which a server rejects a request that it cannot run. They decide under any HTTP status. */
const rejectionCodes: ReadonlySet<number> = new Set([-32_700, -32_600, -32_601, -32_602])

/**
 * Checks whether a failed write cannot have been run by any node, so that its result need not be looked up. An HTTP status of 5xx is no proof,
 * because a proxy may write such a page after it forwarded the call, with any words in it.
 *
 * @param failure - The failure of a call that is not a read. `retryable` of a write means that it was not run.
 * @example
 * isRejectedBeforeRun({ kind: 'auth', retryable: false, status: 401 }) // true
 * isRejectedBeforeRun({ kind: 'auth', retryable: false, status: 502 }) // false
 */
export function isRejectedBeforeRun({
  kind,
  retryable,
  status = 0,
  rpcError,
  source,
}: Pick<KeyrailError, 'kind' | 'retryable'> & Partial<Pick<KeyrailError, 'status' | 'rpcError' | 'source'>>): boolean {
  if (retryable) return true
  // Our own budget or concurrency limit rejected the call, so it was not sent.
  if (kind === 'throttled' && source === 'client') return true
  return rejectionKinds.has(kind) && (status < 500 || rejectionCodes.has(rpcError?.code ?? 0))
}
