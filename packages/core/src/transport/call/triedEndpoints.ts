import type { FailureKind } from '../../failure/failureKind.ts'
import type { Call } from './call.ts'
import type { CallProgress } from './callProgress.ts'

/**
 * Records the outcome of a call at an endpoint, for its error message.
 *
 * @param outcome - The kind of failure. Without one, the call has just been sent there.
 */
export function recordTried({ progress }: Call, url: string, outcome?: FailureKind): void {
  const tried = (progress.tried ??= new Map())
  if (outcome || !tried.has(url)) tried.set(url, outcome ?? 'no response yet')
}

/**
 * Lists endpoints for the end of an error message.
 *
 * @param outcomes - Redacted URLs, each with the outcome there.
 * @param verb - The verb of the sentence. @default 'were tried'
 * @example
 * listEndpoints([['https://one.example/…cdef', 'network'], ['https://two.example/…cdef', 'auth']])
 * // '2 endpoints were tried: https://one.example/…cdef (network), https://two.example/…cdef (auth).'
 */
export function listEndpoints(
  outcomes: readonly (readonly [url: string, outcome: string])[],
  verb = 'were tried',
): string {
  return `${outcomes.length} endpoints ${verb}: ${outcomes.map(([url, outcome]) => `${url} (${outcome})`).join(', ')}.`
}

/**
 * Lists the endpoints at which a call was tried, and the current one.
 *
 * @returns An empty string if the call was tried at one endpoint only.
 */
export function triedEndpoints(call: Call): string {
  const outcomes = new Map<string, string>()
  for (let one: CallProgress | undefined = call.progress; one; one = one.follows)
    for (const [url, outcome] of one.tried ?? []) outcomes.set(url, outcome)
  return outcomes.size > 1 ? listEndpoints([...outcomes]) : ''
}
