/** An HTTP answer, read to its end. */
export interface Answer {
  readonly status: number
  readonly text: string
  /** A header of the answer by its lower-case name. */
  readonly header: (name: string) => string | null | undefined
}

/** What went wrong below HTTP, told without anything that could hold the address. */
export interface Fault {
  readonly kind: 'network' | 'badResponse'
  readonly text: string
  /** True where not a byte of the request can have reached the server. */
  readonly unsent?: boolean
  /** True where a kept-alive connection broke before any byte of the answer: the server had closed it meanwhile. */
  readonly stale?: boolean
}

/** An address made ready for a carrier. Opaque, because it holds the key. */
export type Target = object

/** Options that reach the carrier. */
export interface CarrierOptions {
  /** Used in place of the carrier's own way to fetch. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Node only: an `http.Agent` or `https.Agent`, for a proxy or a client certificate. */
  readonly agent?: object | undefined
  readonly maxResponseBytes: number
}

/** Sends bytes and brings back bytes. Knows nothing of JSON-RPC. */
export interface Carrier {
  readonly target: (url: string, headers: Record<string, string>) => Target
  /** Posts a body. Calls `done` once, never synchronously, and not after the returned function was called, which ends the request. */
  readonly send: (target: Target, body: string, done: (fault: Fault | undefined, answer?: Answer) => void) => () => void
  readonly close: () => void
}
