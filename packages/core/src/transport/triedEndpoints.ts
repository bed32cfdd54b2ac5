import type { Call } from './call.ts'

/** The outcome that is listed for an endpoint that has not responded. */
export const NO_RESPONSE_YET = 'no answer yet'

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
  for (let one: Call | undefined = call; one; one = one.below) {
    for (const [url, outcome] of one.tried ?? []) outcomes.set(url, outcome)
    if (one.endpoint && !outcomes.has(one.endpoint)) outcomes.set(one.endpoint, NO_RESPONSE_YET)
  }
  return outcomes.size > 1 ? listEndpoints([...outcomes]) : ''
}
