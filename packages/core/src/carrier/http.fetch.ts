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

/** Carries by `fetch`: browsers, workers, Deno, Bun, React Native, and wherever a `fetch` is given. */
export function createCarrier({ fetch, maxResponseBytes }: CarrierOptions): Carrier {
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
            // A redirect would carry the key to a place that was not chosen.
            redirect: 'manual',
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
          return (
            over ||
            done({
              kind: 'network',
              text: response
                ? 'the connection broke in the middle of the answer'
                : (textOf(() => Object(error).message) ?? 'fetch failed'),
            })
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
