import { batch, createTransport, hooks } from '@keyrail/core'
import type { EndpointUrlOptions, AttemptEvent, BatchMethods, EthereumRpc, Transport } from '@keyrail/core'

/** The last HTTP response. */
export interface LastResponse {
  readonly status: number
  readonly headers: Headers
  /** Milliseconds since 1970, by this machine's clock. */
  readonly sentAt: number
  readonly receivedAt: number
}

/** For calls that are measured. */
export const noRetry = { retries: 0 } as const

/** An endpoint, called through the SDK's transport and observed. */
export interface Probe {
  readonly request: Transport['request']
  readonly batch: BatchMethods<EthereumRpc>['batch']
  /** The last response; undefined before the first one. */
  readonly lastResponse: () => LastResponse | undefined
  /** Returns the HTTP requests since the last call of this function, with their results. */
  readonly takeAttempts: () => AttemptEvent[]
  /** Sends this origin with all later requests. */
  readonly setOrigin: (origin: string) => void
  /** Sends a preflight request, as a browser does; undefined before the first request. */
  readonly preflight: (origin: string) => Promise<Response | undefined>
  readonly close: () => void
}

const withHeader = (init: RequestInit | undefined, name: string, value: string): RequestInit => {
  const headers = new Headers(init?.headers)
  headers.set(name, value)
  return { ...init, headers }
}

/**
 * Opens an endpoint to check. Calls are neither coalesced nor cached, so that every response comes from the endpoint. Measured calls are not
 * retried; others are, because the measured ones may have used up the rate limit.
 *
 * @param endpoint - The URL and the key.
 * @param options.timeoutMs - The timeout of a call.
 * @throws {KeyrailError} kind `invalidRequest` if the endpoint is invalid.
 */
export function createProbe(endpoint: EndpointUrlOptions, { timeoutMs }: { readonly timeoutMs: number }): Probe {
  let lastResponse: LastResponse | undefined
  let origin: string | undefined
  // Contains the key. It never leaves this function.
  let target: string | undefined
  let attempts: AttemptEvent[] = []
  const transport = createTransport({
    ...endpoint,
    timeoutMs,
    retry: 2,
    coalesce: false,
    batch: batch({ maxCalls: 1_000 }),
    hooks: hooks({ onAttempt: (attempt) => void attempts.push(attempt) }),
    fetch: async (input, init) => {
      target = input instanceof Request ? input.url : String(input)
      const sentAt = Date.now()
      const response = await fetch(input, origin === undefined ? init : withHeader(init, 'origin', origin))
      lastResponse = { status: response.status, headers: response.headers, sentAt, receivedAt: Date.now() }
      return response
    },
  })
  return {
    request: transport.request,
    batch: transport.batch,
    lastResponse: () => lastResponse,
    takeAttempts: () => {
      const taken = attempts
      attempts = []
      return taken
    },
    setOrigin: (page) => {
      origin = page
    },
    preflight: async (page) => {
      if (target === undefined) return undefined
      const response = await fetch(target, {
        method: 'OPTIONS',
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
        headers: {
          origin: page,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'content-type',
        },
      })
      await response.body?.cancel()
      return response
    },
    close: transport.close,
  }
}
