import { createTooLargeFault, isDecidedByStatus } from './httpClient.ts'
import type { HttpClient, HttpClientOptions, HttpFault } from './httpClient.ts'
import { findProgrammingError } from './findProgrammingError.ts'
import { readString } from './readString.ts'

/** Memory to reserve at most because of a `content-length` header, in bytes. */
const MAX_RESERVED_BYTES = 2 ** 23

const getReservedBytes = ({ headers }: Response): number =>
  Math.min(Number(readString(() => headers.get('content-length'))) || 0, MAX_RESERVED_BYTES)

/** Copies bytes to a larger array. It at least doubles, so that many small chunks are not copied again and again. */
const enlarge = (bytes: Uint8Array<ArrayBuffer>, needed: number): Uint8Array<ArrayBuffer> => {
  const larger = new Uint8Array(Math.max(2 * bytes.length, needed))
  larger.set(bytes)
  return larger
}

/**
 * How implementations of `fetch` report a redirect with `redirect: 'error'`: "unexpected redirect" (undici, Node), "no-redirect" (node-fetch),
 * "Encountered redirect while redirect mode is set to 'error'" (Deno).
 */
const redirectErrors = /^(?:unexpected |no-|encountered )redirect/i

/** Converts what `fetch` rejected with. */
const toFetchFault = (error: unknown): HttpFault => {
  const message = readString(() => Object(error).message)
  const cause = readString(() => Object(error).cause.message)
  const type = readString(() => Object(error).type)
  if ([message, cause, type].some((text) => redirectErrors.test(text)))
    return {
      kind: 'badResponse',
      text: 'the server redirects, which is not followed: it would send the key to another server',
      final: true,
    }
  const mistake = findProgrammingError(error)
  if (mistake) return { kind: 'unknown', text: `fetch threw ${mistake}` }
  return { kind: 'network', text: message || 'fetch rejected without a message' }
}

/** Converts what was thrown while the response was read. */
const toResponseFault = (error: unknown): HttpFault => {
  const mistake = findProgrammingError(error)
  return mistake
    ? { kind: 'badResponse', text: `the response that fetch returned cannot be read: ${mistake}` }
    : { kind: 'network', text: 'the connection broke in the middle of the response' }
}

/**
 * Creates an HTTP client that uses `fetch`: for browsers, workers, Deno, Bun, React Native, and for a custom `fetch`.
 *
 * @param options - See {@link HttpClientOptions}.
 * @param redirect - How to prevent redirects, which would send the key to another server. With `error`, the `fetch` of Node makes no copy of the
 * request and reports the redirect; browsers do not report it. @default 'manual'
 * @param describeDecodingError - Describes an error that says that the body cannot be decoded; undefined for any other. Browsers have none.
 */
export function createHttpClient(
  { fetch, maxResponseBytes }: HttpClientOptions,
  redirect: 'manual' | 'error' = 'manual',
  describeDecodingError?: (error: unknown) => string | undefined,
): HttpClient {
  const tooLarge = createTooLargeFault(maxResponseBytes)
  return {
    send: ({ url, headers }, body, done) => {
      const controller = new AbortController()
      let over = false
      const post = async (): Promise<unknown> => {
        let response: Response | undefined
        let text = ''
        // Most responses are one chunk, which is used without a copy.
        let whole = new Uint8Array()
        let bytes = 0
        let status = 0
        const succeed = (text: string, problem?: string): unknown =>
          over ||
          done(undefined, { status, text, problem, header: (name) => readString(() => response?.headers.get(name)) })
        const failToRead = (fault: HttpFault): unknown =>
          isDecidedByStatus(status) ? succeed('', fault.text) : over || done(fault)
        try {
          const given = await (fetch ?? globalThis.fetch)(url, {
            method: 'POST',
            headers,
            body,
            signal: controller.signal,
            redirect,
            // Cloudflare Workers reject requests with this field.
            ...('credentials' in Object(globalThis.Request?.prototype) && { credentials: 'omit' }),
          })
          response = Object(given) as Response
          status = Number(response.status)
          const reader = typeof response.body?.getReader === 'function' && response.body.getReader()
          for (let chunk; reader && !(chunk = await reader.read()).done;) {
            const { value } = chunk
            if (bytes + value.length > maxResponseBytes) {
              controller.abort()
              return failToRead(tooLarge)
            }
            if (bytes) {
              if (bytes + value.length > whole.length)
                whole = enlarge(whole, Math.max(bytes + value.length, getReservedBytes(response)))
              whole.set(value, bytes)
            } else whole = value
            bytes += value.length
          }
          // React Native has no streams, and node-fetch has those of Node. The text is decoded in one go, because decoding chunks is several times slower.
          text = reader ? new TextDecoder().decode(whole.subarray(0, bytes)) : `${await response.text()}`
          if (text.length > maxResponseBytes) return failToRead(tooLarge)
        } catch (error) {
          // A custom fetch may throw synchronously, but `done` must not be called before this function has returned.
          await Promise.resolve()
          if (response === undefined) return over || done(toFetchFault(error))
          const problem = describeDecodingError?.(error)
          if (problem) return succeed('', problem)
          return failToRead(toResponseFault(error))
        }
        return succeed(text)
      }
      void post()
      return () => {
        over = true
        controller.abort()
      }
    },
    close: () => {},
  }
}
