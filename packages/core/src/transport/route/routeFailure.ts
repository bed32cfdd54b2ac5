import type { FailureKind } from '../../failure/failureKind.ts'
import { createFailure } from '../../failure/createFailure.ts'
import { isReadMethod } from '../../failure/isReadMethod.ts'
import { isRejectedBeforeRun } from '../../failure/isRejectedBeforeRun.ts'
import { KeyrailError } from '../../failure/keyrailError.ts'
import { listEndpoints } from '../call/triedEndpoints.ts'

/**
 * Kinds of failure that another endpoint may not have, in the order in which they are reported. Failures that the user has to fix come first,
 * because they would otherwise go unnoticed. Then come responses of a node, and last the failures without a response.
 */
const reportOrder: readonly FailureKind[] = [
  'wrongNetwork',
  'auth',
  'forbidden',
  'quota',
  'missingData',
  'methodUnavailable',
  'lagging',
  'unknown',
  'throttled',
  'badResponse',
  'unavailable',
  'timeout',
  'network',
]

/**
 * Checks whether a failed call may be sent to another endpoint. A read may, if another endpoint may know or support what this one does not, or if
 * nobody knows what its error means. Any other method may only if this endpoint cannot have run it: the call was not sent, or it was rejected first.
 *
 * @param method - The method of the call.
 * @param failure - How the call failed at the first endpoint.
 */
export function mayTryNextEndpoint(method: string, failure: KeyrailError): boolean {
  if (!reportOrder.includes(failure.kind)) return false
  // A programming error in a given `fetch`, which is the same at each endpoint.
  if (failure.kind === 'unknown' && failure.source === 'client') return false
  if (isReadMethod(method)) return true
  // The chain id in the response shows the other chain, so a node has taken the call.
  if (failure.kind === 'wrongNetwork' && failure.source === 'client') return false
  return isRejectedBeforeRun(failure)
}

/**
 * Chooses which of the failures of several endpoints the call fails with. A retryable failure goes first, so that the call is retried, after the
 * shortest of the waits that the endpoints asked for. The message lists every endpoint.
 *
 * @param failures - One for each endpoint that was tried, at least one.
 * @param skipped - The redacted URLs of the others, each with the reason why it was not tried.
 */
export function chooseFailure(
  failures: readonly KeyrailError[],
  skipped: readonly (readonly [url: string, reason: string])[] = [],
): KeyrailError {
  const [first] = failures as [KeyrailError]
  if (failures.length + skipped.length === 1) return first
  const retryable = failures.filter((failure) => failure.retryable)
  const [chosen] = (retryable.length ? retryable : [...failures]).sort(
    (a, b) => reportOrder.indexOf(a.kind) - reportOrder.indexOf(b.kind),
  ) as [KeyrailError]
  const tried = failures.map(({ redactedUrl = '', kind }) => [redactedUrl, kind] as const)
  const list = skipped.length > 0 ? listEndpoints([...tried, ...skipped], 'failed') : listEndpoints(tried)
  const waits = retryable.map(({ retryAfterMs = 0 }) => retryAfterMs)
  return new KeyrailError(`${chosen.message} ${list}`, {
    ...chosen,
    retryAfterMs: retryable.length ? Math.min(...waits) || undefined : chosen.retryAfterMs,
  })
}

/**
 * Creates the failure of a call that no endpoint is left for, because all of them are on another chain.
 *
 * @param method - The method of the call.
 * @param first - The first endpoint.
 * @param skipped - The redacted URLs of all endpoints, each with the reason why it was not tried.
 */
export function createAllExcludedFailure(
  method: string,
  { name, redactedUrl }: { readonly name?: string | undefined; readonly redactedUrl: string },
  skipped: readonly (readonly [url: string, reason: string])[],
): KeyrailError {
  const text = 'every endpoint is on another chain than expected'
  const failure = createFailure({ kind: 'wrongNetwork', text }, { method, redactedUrl: name ?? redactedUrl })
  return skipped.length > 1
    ? new KeyrailError(`${failure.message} ${listEndpoints(skipped, 'failed')}`, failure)
    : failure
}
