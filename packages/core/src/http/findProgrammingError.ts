import { readString } from './readString.ts'

/** The names of errors with which JavaScript, test tools and undici (`InvalidArgumentError`) report a mistake in a program. */
const programmingErrors = /^(?:Assertion|Eval|InvalidArgument|Range|Reference|Syntax|Type|URI)Error$/

/** What engines say of a mistake: "x is not a function", "a is undefined". */
const mistakes = / is (?:not|undefined|null|an? )/

/**
 * `fetch` reports a network error as a `TypeError` too. Its message starts with one of these, in lower case:
 *
 * - Node (undici), Deno, workerd: "fetch failed", "terminated", "Network connection lost".
 * - Chromium: "Failed to fetch", "network error". Firefox: "NetworkError when attempting to fetch resource", "Error in input stream".
 * - Safari and other WebKit: "Load failed", "cancelled", "The Internet connection appears to be offline", "A server with the specified hostname
 *   could not be found", "Could not connect to the server", "The request timed out", "An SSL error has occurred …", "The certificate for this
 *   server is invalid".
 * - React Native, and polyfills: "Network request failed".
 * - Bun: "Unable to connect", "The socket connection was closed unexpectedly".
 * - Deno: "error sending request", "error reading a body from connection", "error trying to connect", "connection closed before message
 *   completed", "connection error", "http2 error".
 */
const networkErrors =
  /^(?:fetch failed|failed to fetch|load failed|terminated|cancelled|(?:an?|the) (?:network|internet|socket|ssl|certificate|server|request)|network ?(?:error|request|connection)|connection (?:error|closed)|(?:could not|unable to) connect|error (?:in|sending|reading|trying)|http2 error)(?: |$)/

/** WebKit says "not" in these two: a CORS error has the page's origin in it. */
const corsErrors = /^(?:preflight response is not successful$|origin .* is not allowed by access-control-allow-origin$)/

/** How many causes are checked. */
const MAX_CAUSES = 5

/**
 * Removes what some runtimes add to a message: further sentences, a host or URL in parentheses, and the error of a lower layer after a colon.
 * "Failed to fetch (node.example)" becomes "Failed to fetch".
 */
const withoutDetails = (message: string): string => (message.split(/[.](?: |$)| \(|: /)[0] ?? '').trim()

const isNetworkError = (message: string): boolean => {
  const text = withoutDetails(message.toLowerCase())
  return corsErrors.test(text) || (networkErrors.test(text) && !mistakes.test(text))
}

/** Network errors of Bun have a system code, such as ECONNREFUSED. Codes that start with ERR_ mean wrong arguments in Node and Bun. */
const isSystemCode = (code: string): boolean => code !== '' && !code.startsWith('ERR_') && !code.startsWith('UND_ERR_')

/**
 * Finds a programming error in what an HTTP client threw: a `TypeError`, `ReferenceError` and so on that is not one of the known network errors
 * of a runtime, either the error itself or one of its causes. Such a request fails the same way each time, and at every endpoint. Neither outcome
 * lets a write be repeated.
 *
 * @param error - The thrown value. It may be anything.
 * @returns Name and message of the programming error; undefined if there is none, which means that the network failed.
 * @example
 * findProgrammingError(new TypeError('Promise.withResolvers is not a function')) // 'TypeError: Promise.withResolvers is not a function'
 * findProgrammingError(new TypeError('Failed to fetch')) // undefined
 * @see The fetch standard, section 5.6 (fetch method): a network error rejects with a TypeError
 */
export function findProgrammingError(error: unknown): string | undefined {
  let at = error
  for (let depth = 0; depth < MAX_CAUSES && at !== undefined && at !== null; depth++) {
    const current = at as { readonly name?: unknown; readonly message?: unknown; readonly code?: unknown }
    const name = readString(() => current.name)
    const message = readString(() => current.message)
    if (isSystemCode(readString(() => current.code))) return undefined
    if (programmingErrors.test(name) && !(name === 'TypeError' && isNetworkError(message))) return `${name}: ${message}`
    at = getCause(at)
  }
  return undefined
}

const getCause = (error: unknown): unknown => {
  try {
    return (error as { readonly cause?: unknown }).cause
  } catch {
    return undefined
  }
}
