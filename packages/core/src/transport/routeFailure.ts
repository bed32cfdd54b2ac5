import { KeyrailError } from '../failure/keyrailError.ts'
import { repeatable } from '../failure/repeatable.ts'

/**
 * What another endpoint may cure, the most telling first: what the user must mend comes before what passes by itself, since no other
 * message would bring it to light; then what a node said before what only says that none was reached.
 */
const curable =
  'wrongNetwork auth forbidden quota missingData methodUnavailable lagging throttled badResponse unavailable timeout network'

/** A call that was refused so was not looked at by any node. */
const refusals = 'auth forbidden quota throttled methodUnavailable wrongNetwork'

/**
 * Tells whether another endpoint may be asked after a failure: for a read, where it may know or be able to do what this one did not; for all
 * else only where the call cannot have arrived here.
 *
 * @param method - The method of the call.
 * @param failure - What the endpoint failed with.
 */
export function movable(method: string, { kind, source, retryable }: KeyrailError): boolean {
  if (!curable.includes(kind)) return false
  if (repeatable(method) || retryable) return true
  // The answer itself shows the other chain: then a node took the call.
  return refusals.includes(kind) && !(kind === 'wrongNetwork' && source === 'client')
}

/**
 * Of the failures of several endpoints, the one to report. One that may pass by itself goes before one that does not, so that the call is made
 * again; it is then made again as soon as the first of them allows. Its message names every endpoint that was tried.
 *
 * @param failures - One for each endpoint that was tried, at least one.
 */
export function mostTelling(failures: readonly KeyrailError[]): KeyrailError {
  const [first] = failures as [KeyrailError]
  if (failures.length === 1) return first
  const passing = failures.filter(({ retryable }) => retryable)
  const [told] = (passing.length ? passing : [...failures]).sort(
    (a, b) => curable.indexOf(a.kind) - curable.indexOf(b.kind),
  ) as [KeyrailError]
  const tried = failures.map(({ label, kind }) => `${label} (${kind})`).join(', ')
  const waits = passing.map(({ retryAfterMs = 0 }) => retryAfterMs)
  return new KeyrailError(`${told.message} ${failures.length} endpoints were tried: ${tried}.`, {
    ...told,
    retryAfterMs: passing.length ? Math.min(...waits) || undefined : told.retryAfterMs,
  })
}
