import { batch, createTransport, hooks } from '@keyrail/core'
import type { EndpointUrlOptions, AttemptEvent, BatchMethods, EthereumRpc, Transport } from '@keyrail/core'

/** What was seen of the last HTTP answer. */
export interface Seen {
  readonly status: number
  readonly headers: Headers
  /** Milliseconds since 1970, by this machine's clock. */
  readonly sentAt: number
  readonly answeredAt: number
}

/** For calls whose own end is what is looked at. */
export const once = { retries: 0 } as const

/** One address, asked as the SDK asks it, and watched meanwhile. */
export interface Probe {
  readonly request: Transport['request']
  readonly batch: BatchMethods<EthereumRpc>['batch']
  /** Of the last answer; undefined where none came yet. */
  readonly seen: () => Seen | undefined
  /** HTTP requests since the last time that this was asked, each with how it ended. */
  readonly takeAttempts: () => AttemptEvent[]
  /** From now on requests say that they come from a page there. */
  readonly comeFrom: (origin: string) => void
  /** Asks as a browser does before it sends a page's request; undefined where nothing was sent to that address yet. */
  readonly preflight: (origin: string) => Promise<Response | undefined>
  readonly close: () => void
}

const withHeader = (init: RequestInit | undefined, name: string, value: string): RequestInit => {
  const headers = new Headers(init?.headers)
  headers.set(name, value)
  return { ...init, headers }
}

/**
 * Opens an address to be examined. Nothing is joined or kept, so that every answer is one of the address itself. What is measured is made once; the rest may
 * be made again, because what was measured before may have used a rate up.
 *
 * @param address - Where it is, with its key.
 * @param options.timeoutMs - How long one call may take.
 * @throws {KeyrailError} kind `invalidRequest` where the address cannot be right.
 */
export function createProbe(address: EndpointUrlOptions, { timeoutMs }: { readonly timeoutMs: number }): Probe {
  let seen: Seen | undefined
  let origin: string | undefined
  // Holds the key, and stays in here.
  let target: string | undefined
  let attempts: AttemptEvent[] = []
  const transport = createTransport({
    ...address,
    timeoutMs,
    retry: 2,
    coalesce: false,
    batch: batch({ maxCalls: 1_000 }),
    hooks: hooks({ onAttempt: (attempt) => void attempts.push(attempt) }),
    fetch: async (input, init) => {
      target = input instanceof Request ? input.url : String(input)
      const sentAt = Date.now()
      const response = await fetch(input, origin === undefined ? init : withHeader(init, 'origin', origin))
      seen = { status: response.status, headers: response.headers, sentAt, answeredAt: Date.now() }
      return response
    },
  })
  return {
    request: transport.request,
    batch: transport.batch,
    seen: () => seen,
    takeAttempts: () => {
      const taken = attempts
      attempts = []
      return taken
    },
    comeFrom: (page) => {
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
