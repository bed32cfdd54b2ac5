import type { Carrier, CarrierOptions, Fault } from './carrier.ts'

interface FetchTarget {
  readonly url: string
  readonly init: RequestInit
}

const tooLarge = (maxBytes: number): Fault => ({
  kind: 'badResponse',
  text: `the answer is larger than maxResponseBytes (${maxBytes})`,
})

/** Reads a body to its end, or gives up once it is larger than allowed. */
const readBody = async (response: Response, maxBytes: number): Promise<string | Fault> => {
  const length = Number(response.headers.get('content-length') ?? NaN)
  if (length > maxBytes) return tooLarge(maxBytes)
  // A length that is known and plain was checked just now, and text() is the platform's fastest path.
  if (!response.body?.getReader || (length >= 0 && !response.headers.get('content-encoding'))) {
    const text = await response.text()
    return text.length > maxBytes ? tooLarge(maxBytes) : text
  }
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let bytes = 0
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.length
    if (bytes > maxBytes) return tooLarge(maxBytes)
    text += decoder.decode(value, { stream: true })
  }
}

/** Carries by `fetch`: browsers, workers, Deno, Bun, React Native, and wherever a `fetch` is given. */
export function createCarrier({ fetch, maxResponseBytes }: CarrierOptions): Carrier {
  return {
    target: (url, headers): FetchTarget => ({
      url,
      init: {
        method: 'POST',
        headers,
        // A redirect would carry the key to a place that was not chosen.
        redirect: 'manual',
        // Workers refuse the field itself.
        ...(typeof Request === 'function' && 'credentials' in Request.prototype && { credentials: 'omit' }),
      },
    }),
    send: (target, body, done) => {
      const { url, init } = target as FetchTarget
      const controller = new AbortController()
      let over = false
      const post = async (): Promise<void> => {
        let fault: Fault | undefined
        let response: Response | undefined
        let text: string | Fault = ''
        try {
          response = await (fetch ?? globalThis.fetch)(url, { ...init, body, signal: controller.signal })
          if (!over) text = await readBody(response, maxResponseBytes)
        } catch (error) {
          const { message, cause } = Object(error) as { message?: unknown; cause?: unknown }
          const { code, syscall } = Object(cause) as { code?: unknown; syscall?: unknown }
          fault = {
            kind: 'network',
            text: response ? 'the connection broke in the middle of the answer' : String(code ?? message ?? error),
            unsent: syscall === 'connect' || syscall === 'getaddrinfo',
          }
        }
        if (over) return
        if (typeof text !== 'string') {
          fault = text
          controller.abort()
        }
        if (fault || !response) done(fault)
        // An opaque redirect has status 0.
        else
          done(undefined, {
            status: response.status || 302,
            text: text as string,
            header: (name) => response.headers.get(name),
          })
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
