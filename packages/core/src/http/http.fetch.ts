import type { HttpClient, HttpClientOptions, Fault } from './httpClient.ts'
import { programmingError } from './programmingError.ts'
import { textOf } from './textOf.ts'

/** As much as is believed beforehand of what a server says that it will send, in bytes. */
const MAX_ANNOUNCED_BYTES = 2 ** 23

const announcedBytes = ({ headers }: Response): number =>
  Math.min(Number(textOf(() => headers.get('content-length'))) || 0, MAX_ANNOUNCED_BYTES)

/** A copy with room for more than what is needed, so that many small parts are not copied time and again. */
const enlarged = (bytes: Uint8Array<ArrayBuffer>, needed: number): Uint8Array<ArrayBuffer> => {
  const larger = new Uint8Array(Math.max(2 * bytes.length, needed))
  larger.set(bytes)
  return larger
}

/** Why `fetch` rejected. */
const failedFetch = (error: unknown): Fault => {
  const mistake = programmingError(error)
  if (mistake) return { kind: 'unknown', text: `fetch threw ${mistake}` }
  const message = textOf(() => Object(error).message)
  const cause = textOf(() => Object(error).cause.message)
  if (/redirect/i.test(message + cause))
    return { kind: 'badResponse', text: 'the server answered with a redirect, which is not followed', final: true }
  return { kind: 'network', text: message || 'fetch failed' }
}

/** Why the response that `fetch` returned could not be read to its end. */
const brokenResponse = (error: unknown): Fault => {
  const mistake = programmingError(error)
  return mistake
    ? { kind: 'badResponse', text: `the response that fetch returned cannot be read: ${mistake}` }
    : { kind: 'network', text: 'the connection broke in the middle of the answer' }
}

/**
 * Carries by `fetch`: browsers, workers, Deno, Bun, React Native, and wherever a `fetch` is given.
 *
 * @param options - See {@link HttpClientOptions}.
 * @param redirect - How redirects are kept from being followed, which would carry the key to a place that was not chosen. By `error` the `fetch` of
 * Node is spared a copy of the request, and says why it refused; browsers do not say why. @default 'manual'
 */
export function createHttpClient(
  { fetch, maxResponseBytes }: HttpClientOptions,
  redirect: 'manual' | 'error' = 'manual',
): HttpClient {
  return {
    send: ({ url, headers }, body, done) => {
      const controller = new AbortController()
      let over = false
      const post = async (): Promise<unknown> => {
        let response: Response | undefined
        let text = ''
        // Most answers are one part, which is used as it is.
        let whole = new Uint8Array()
        let bytes = 0
        let status = 0
        try {
          const given = await (fetch ?? globalThis.fetch)(url, {
            method: 'POST',
            headers,
            body,
            signal: controller.signal,
            redirect,
            // Workers refuse the field itself.
            ...('credentials' in Request.prototype && { credentials: 'omit' }),
          })
          response = Object(given) as Response
          const reader = response.body?.getReader()
          for (let part; reader && !(part = await reader.read()).done;) {
            const { value } = part
            if (bytes + value.length > maxResponseBytes) {
              controller.abort()
              return (
                over || done({ kind: 'badResponse', text: 'the answer is larger than maxResponseBytes', final: true })
              )
            }
            if (bytes) {
              if (bytes + value.length > whole.length)
                whole = enlarged(whole, Math.max(bytes + value.length, announcedBytes(response)))
              whole.set(value, bytes)
            } else whole = value
            bytes += value.length
          }
          // React Native gives no stream. All at once, because decoders are several times slower on parts.
          text = reader ? new TextDecoder().decode(whole.subarray(0, bytes)) : `${await response.text()}`
          status = Number(response.status)
        } catch (error) {
          // A given fetch may throw at once, and whoever sent is not told before it knows how to end the request.
          await Promise.resolve()
          return over || done(response === undefined ? failedFetch(error) : brokenResponse(error))
        }
        return over || done(undefined, { status, text, header: (name) => textOf(() => response?.headers.get(name)) })
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
