import type { Call } from './call.ts'

/** How an endpoint is listed that has not answered. */
export const NO_ANSWER_YET = 'no answer yet'

/**
 * Lists endpoints for the end of an error message.
 *
 * @param outcomes - Redacted URLs, each with what happened there.
 * @param verb - What holds for all of them. @default 'were tried'
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
 * Lists the endpoints that a call was tried at, and the one that it is at now.
 *
 * @returns Empty if it was tried at one endpoint only.
 */
export function triedEndpoints(call: Call): string {
  const outcomes = new Map<string, string>()
  for (let one: Call | undefined = call; one; one = one.below) {
    for (const [url, outcome] of one.tried ?? []) outcomes.set(url, outcome)
    if (one.endpoint && !outcomes.has(one.endpoint)) outcomes.set(one.endpoint, NO_ANSWER_YET)
  }
  return outcomes.size > 1 ? listEndpoints([...outcomes]) : ''
}
