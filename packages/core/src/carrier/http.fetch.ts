import type { Carrier, CarrierOptions, Fault, Target } from './carrier.ts'

/** Carries by `fetch`: browsers, workers, Deno, Bun, React Native, and wherever a `fetch` is given. */
export function createCarrier({ fetch, maxResponseBytes }: CarrierOptions): Carrier {
  return {
    target: (url, headers) => ({ url, headers }),
    send: (target, body, done) => {
      const { url, headers } = target as Target & { url: string; headers: Record<string, string> }
      const controller = new AbortController()
      let over = false
      const post = async (): Promise<void> => {
        let response!: Response
        let fault: Fault | undefined
        let text = ''
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
          let bytes = 0
          for (let part; reader && !(part = await reader.read()).done && !fault;) {
            text += decoder.decode(part.value, { stream: true })
            bytes += part.value.length
            if (bytes > maxResponseBytes)
              fault = { kind: 'badResponse', text: 'the answer is larger than maxResponseBytes' }
          }
          // React Native gives no stream.
          text += reader ? decoder.decode() : await response.text()
        } catch (error) {
          fault ??= {
            kind: 'network',
            text: response ? 'the connection broke in the middle of the answer' : String(Object(error).message),
          }
        }
        if (over) return
        if (fault) {
          controller.abort()
          done(fault)
        } else done(undefined, { status: response.status, text, header: (name) => response.headers.get(name) })
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
