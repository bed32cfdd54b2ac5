import type { FailureKind } from '../failure/failureKind.ts'
import { KeyrailError } from '../failure/keyrailError.ts'
import { isReadMethod } from '../failure/isReadMethod.ts'
import { listEndpoints } from './triedEndpoints.ts'

/**
 * Kinds of failure that another endpoint may not have, the most useful first: what the user has to fix comes before what goes away without
 * them, since no other message would bring it to light; then what a node said before what only says that none was reached.
 */
const curable: readonly FailureKind[] = [
  'wrongNetwork',
  'auth',
  'forbidden',
  'quota',
  'missingData',
  'methodUnavailable',
  'lagging',
  'throttled',
  'badResponse',
  'unavailable',
  'timeout',
  'network',
]

/** Kinds of failure with which a call is rejected before any node runs it. */
const rejections: ReadonlySet<FailureKind> = new Set([
  'auth',
  'forbidden',
  'quota',
  'throttled',
  'methodUnavailable',
  'wrongNetwork',
])

/**
 * Checks whether a failed call may be sent to another endpoint. A known read may, where that endpoint may know or be able to do what this one did
 * not. Any other method may only where this endpoint cannot have run it: it was not sent, or it was rejected. A 5xx page is never proof of a
 * rejection, even if its words say so, because a proxy may write it after it forwarded the call.
 *
 * @param method - The method of the call.
 * @param failure - How the call failed at the first endpoint.
 */
export function movable(method: string, { kind, source, retryable, status = 0 }: KeyrailError): boolean {
  if (!curable.includes(kind)) return false
  if (isReadMethod(method) || retryable) return true
  // The response itself shows the other chain: then a node took the call.
  if (kind === 'wrongNetwork' && source === 'client') return false
  return rejections.has(kind) && status < 500
}

/**
 * Of the failures of several endpoints, the one to report. One that may pass by itself goes before one that does not, so that the call is made
 * again; it is then made again as soon as the first of them allows. Its message names every endpoint.
 *
 * @param failures - One for each endpoint that was tried, at least one.
 * @param skipped - The redacted URLs of the others, each with why it was not tried.
 */
export function mostTelling(
  failures: readonly KeyrailError[],
  skipped: readonly (readonly [url: string, reason: string])[] = [],
): KeyrailError {
  const [first] = failures as [KeyrailError]
  if (failures.length + skipped.length === 1) return first
  const passing = failures.filter(({ retryable }) => retryable)
  const [told] = (passing.length ? passing : [...failures]).sort(
    (a, b) => curable.indexOf(a.kind) - curable.indexOf(b.kind),
  ) as [KeyrailError]
  const tried = failures.map(({ redactedUrl = '', kind }) => [redactedUrl, kind] as const)
  const list = skipped.length > 0 ? listEndpoints([...tried, ...skipped], 'failed') : listEndpoints(tried)
  const waits = passing.map(({ retryAfterMs = 0 }) => retryAfterMs)
  return new KeyrailError(`${told.message} ${list}`, {
    ...told,
    retryAfterMs: passing.length ? Math.min(...waits) || undefined : told.retryAfterMs,
  })
}
