import { textOf } from './textOf.ts'

/** How JavaScript, test tools and undici (`InvalidArgumentError`) report a mistake in a program. */
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

/** `fetch` reports a network error as a `TypeError` too. Its message starts with one of these texts, in lower case, by runtime. */
const networkErrors: readonly string[] = [
  // Node (undici), Deno, workerd
  'fetch failed',
  'network connection lost',
  // Chromium, which may add the host
  'failed to fetch',
  'network error',
  // Firefox
  'networkerror when attempting to fetch resource',
  'error in input stream',
  'error in body stream',
  // Safari and other WebKit
  'load failed',
  'a network error occurred',
  'the network connection was lost',
  'the internet connection appears to be offline',
  'a server with the specified hostname could not be found',
  'could not connect to the server',
  'the request timed out',
  'an ssl error has occurred',
  'the certificate for this server is invalid',
  'preflight response is not successful',
  'origin http',
  'origin null is not allowed',
  // React Native, and polyfills
  'network request failed',
  'network request timed out',
  // Bun
  'unable to connect',
  'the socket connection was closed unexpectedly',
  // Deno
  'error sending request',
  'error reading a body from connection',
  'error trying to connect',
  'connection closed before message completed',
  'connection error',
  'http2 error',
]

/** Network errors of one word, which must be all of the message: 'terminated is not a function' is none. */
const networkWords: ReadonlySet<string> = new Set(['terminated', 'cancelled'])

/** How many causes are looked at. */
const MAX_CAUSES = 5

const isNetworkText = (text: string): boolean =>
  networkWords.has(text) || networkErrors.some((start) => text.startsWith(start))

/** Bun gives its network errors a system's code, such as ECONNREFUSED. In Node and Bun the codes for misuse start with ERR_. */
const isSystemCode = (code: string): boolean => code !== '' && !code.startsWith('ERR_') && !code.startsWith('UND_ERR_')

/**
 * Finds the programming error in what an HTTP client threw: a `TypeError`, `ReferenceError` and so on that is not one of the known network errors
 * of a runtime, as the error itself or as a cause of it. Such a request fails the same way each time, and at every endpoint.
 *
 * @param error - What was thrown. It may be anything.
 * @returns Its name and message; undefined where there is none, which means that the network failed.
 * @example
 * programmingError(new TypeError('Promise.withResolvers is not a function')) // 'TypeError: Promise.withResolvers is not a function'
 * programmingError(new TypeError('Failed to fetch')) // undefined
 * @see The fetch standard, section 5.6 (fetch method): a network error rejects with a TypeError
 */
export function programmingError(error: unknown): string | undefined {
  let at = error
  for (let depth = 0; depth < MAX_CAUSES && at !== undefined && at !== null; depth++) {
    const current = at as { readonly name?: unknown; readonly message?: unknown; readonly code?: unknown }
    const name = textOf(() => current.name)
    const message = textOf(() => current.message)
    if (isSystemCode(textOf(() => current.code))) return undefined
    if (programmingErrors.has(name) && !(name === 'TypeError' && isNetworkText(message.toLowerCase())))
      return `${name}: ${message}`
    at = causeOf(at)
  }
  return undefined
}

const causeOf = (error: unknown): unknown => {
  try {
    return (error as { readonly cause?: unknown }).cause
  } catch {
    return undefined
  }
}
