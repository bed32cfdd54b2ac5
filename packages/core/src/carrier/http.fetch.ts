import type { Carrier, CarrierOptions } from './carrier.ts'

/** A given fetch may reject with anything, and give a response of any make: what is read of them may be anything, and may throw. */
const textOf = (read: () => unknown): string | undefined => {
  try {
    const text = read()
    return typeof text === 'string' ? text : undefined
  } catch {
    return undefined
  }
}

/**
 * Carries by `fetch`: browsers, workers, Deno, Bun, React Native, and wherever a `fetch` is given.
 *
 * @param options - See {@link CarrierOptions}.
 * @param redirect - How redirects are kept from being followed, which would carry the key to a place that was not chosen. By `error` the `fetch` of
 * Node is spared a copy of the request, and says why it refused; browsers do not say why. @default 'manual'
 */
export function createCarrier(
  { fetch, maxResponseBytes }: CarrierOptions,
  redirect: 'manual' | 'error' = 'manual',
): Carrier {
  return {
    send: ({ url, headers }, body, done) => {
      const controller = new AbortController()
      let over = false
      const post = async (): Promise<unknown> => {
        let response: Response | undefined
        let text = ''
        let bytes = 0
        try {
          response = await (fetch ?? globalThis.fetch)(url, {
            method: 'POST',
            headers,
            body,
            signal: controller.signal,
            redirect,
            // Workers refuse the field itself.
            ...('credentials' in Request.prototype && { credentials: 'omit' }),
          })
          const reader = response.body?.getReader()
          const decoder = new TextDecoder()
          for (let part; reader && !(part = await reader.read()).done;) {
            text += decoder.decode(part.value, { stream: true })
            bytes += part.value.length
            if (bytes > maxResponseBytes) {
              controller.abort()
              return (
                over || done({ kind: 'badResponse', text: 'the answer is larger than maxResponseBytes', final: true })
              )
            }
          }
          // React Native gives no stream.
          text += reader ? decoder.decode() : await response.text()
        } catch (error) {
          // A given fetch may throw at once, and whoever sent is not told before it knows how to end the request.
          await Promise.resolve()
          const message = textOf(() => Object(error).message) ?? ''
          const cause = textOf(() => Object(error).cause.message) ?? ''
          const redirected = /redirect/i.test(message + cause)
          return (
            over ||
            done(
              redirected
                ? {
                    kind: 'badResponse',
                    text: 'the server answered with a redirect, which is not followed',
                    final: true,
                  }
                : {
                    kind: 'network',
                    text: response ? 'the connection broke in the middle of the answer' : message || 'fetch failed',
                  },
            )
          )
        }
        const answered = response
        return (
          over ||
          done(undefined, {
            status: Number(textOf(() => String(answered.status))),
            text,
            header: (name) => textOf(() => answered.headers.get(name)),
          })
        )
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
