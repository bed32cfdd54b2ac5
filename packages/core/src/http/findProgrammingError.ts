import { readString } from './readString.ts'

/** The names of errors with which JavaScript, test tools and undici (`InvalidArgumentError`) report a mistake in a program. */
const programmingErrors: ReadonlySet<string> = new Set([
  'AssertionError',
  'EvalError',
  'InvalidArgumentError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'TypeError',
  'URIError',
])

/**
 * `fetch` reports a network error as a `TypeError` too. These are their messages by runtime, in lower case, without the details that some runtimes
 * add (see {@link withoutDetails}).
 */
const networkErrors: ReadonlySet<string> = new Set([
  // Node (undici), Deno, workerd
  'fetch failed',
  'terminated',
  'network connection lost',
  // Chromium
  'failed to fetch',
  'network error',
  // Firefox
  'networkerror when attempting to fetch resource',
  'error in input stream',
  'error in body stream',
  // Safari and other WebKit
  'load failed',
  'cancelled',
  'a network error occurred',
  'the network connection was lost',
  'the internet connection appears to be offline',
  'a server with the specified hostname could not be found',
  'could not connect to the server',
  'the request timed out',
  'an ssl error has occurred and a secure connection to the server cannot be made',
  'the certificate for this server is invalid',
  'preflight response is not successful',
  // React Native, and polyfills
  'network request failed',
  'network request timed out',
  // Bun
  'unable to connect',
  'the socket connection was closed unexpectedly',
  // Deno
  'error sending request',
  'error sending request for url',
  'error reading a body from connection',
  'error trying to connect',
  'connection closed before message completed',
  'connection error',
  'http2 error',
])

/** How many causes are checked. */
const MAX_CAUSES = 5

/**
 * Removes what some runtimes add to a message: further sentences, a host or URL in parentheses, and the error of a lower layer after a colon.
 * "Failed to fetch (node.example)" becomes "Failed to fetch".
 */
const withoutDetails = (message: string): string => (message.split(/[.](?: |$)| \(|: /)[0] ?? '').trim()

/** WebKit's message for a CORS error has the page's origin in it. */
const isCorsError = (text: string): boolean =>
  text.startsWith('origin ') && text.endsWith(' is not allowed by access-control-allow-origin')

const isNetworkError = (message: string): boolean => {
  const text = withoutDetails(message.toLowerCase())
  return networkErrors.has(text) || isCorsError(text)
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
    if (programmingErrors.has(name) && !(name === 'TypeError' && isNetworkError(message))) return `${name}: ${message}`
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
