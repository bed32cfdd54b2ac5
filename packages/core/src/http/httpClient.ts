/** An HTTP answer, read to its end. */
export interface HttpResponse {
  readonly status: number
  readonly text: string
  /** A header of the answer by its lower-case name. */
  readonly header: (name: string) => string | null | undefined
}

/** What went wrong below HTTP. */
export interface Fault {
  /** `unknown` is an error in the program that sends, not in the network. */
  readonly kind: 'network' | 'badResponse' | 'unknown'
  readonly text: string
  /** True where not a byte of the request can have reached the server. */
  readonly unsent?: boolean
  /** True where a kept-alive connection broke before any byte of the answer: the server had closed it meanwhile. */
  readonly stale?: boolean
  /** True where the same request would end the same way. */
  readonly final?: boolean
}

/** Where a request goes. Holds the key: kept by nothing that can be reached from outside. */
export interface Target {
  readonly url: string
  readonly headers: Record<string, string>
}

/** Options that reach the carrier. */
export interface HttpClientOptions {
  /** Used in place of the carrier's own way to fetch. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Node only: an `http.Agent` or `https.Agent`, for a proxy or a client certificate. */
  readonly agent?: object | undefined
  readonly maxResponseBytes: number
}

/** Sends bytes and brings back bytes. Knows nothing of JSON-RPC. */
export interface HttpClient {
  /** Posts a body. The same `target` is given again for the same address, so that what is made of it can be kept. Calls `done` once, never synchronously, and not after the returned function was called, which ends the request. */
  readonly send: (
    target: Target,
    body: string,
    done: (fault: Fault | undefined, response?: HttpResponse) => void,
  ) => () => void
  readonly close: () => void
}
