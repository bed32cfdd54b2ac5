/** A complete HTTP response. */
export interface HttpResponse {
  readonly status: number
  readonly text: string
  /** Returns a header of the response by its lower-case name. */
  readonly header: (name: string) => string | null | undefined
}

/** Why there is no complete response. */
export interface HttpFault {
  /** `unknown` is a programming error in `fetch` or the agent, not a failure of the network. */
  readonly kind: 'network' | 'badResponse' | 'unknown'
  readonly text: string
  /** True if no byte of the request can have reached the server. */
  readonly unsent?: boolean
  /** True if a reused connection broke before the first byte of the response: the server had closed it while it was idle. */
  readonly stale?: boolean
  /** True if the same request would fail the same way. */
  readonly final?: boolean
}

/** The URL and headers of a request. They hold the key, so no object that users can reach may store them. */
export interface Target {
  readonly url: string
  readonly headers: Record<string, string>
}

/** Options of an HTTP client. */
export interface HttpClientOptions {
  /** Sends the requests instead of the client's default. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Node only: an `http.Agent` or `https.Agent`, for a proxy or a client certificate. */
  readonly agent?: object | undefined
  /** A larger response fails, in bytes. */
  readonly maxResponseBytes: number
}

/** Sends HTTP requests. Knows nothing about JSON-RPC. */
export interface HttpClient {
  /**
   * Posts a body. Callers pass the same `target` object for the same endpoint, so clients can cache what they derive from it. Calls `done` once,
   * never synchronously. The returned function cancels the request; `done` is not called after that.
   */
  readonly send: (
    target: Target,
    body: string,
    done: (fault: HttpFault | undefined, response?: HttpResponse) => void,
  ) => () => void
  readonly close: () => void
}

/** Creates the fault of a response that is too large. */
export const createTooLargeFault = (maxResponseBytes: number): HttpFault => ({
  kind: 'badResponse',
  text: `the response is larger than maxResponseBytes (${maxResponseBytes})`,
  final: true,
})

/** Whether the status and the headers of a response say what happened, so that it does not matter if its body cannot be read. */
export const isDecidedByStatus = (status = 0): boolean => status > 299

/** The text of such a response. The text of the fault is not used, because its words would be read as those of the server. */
export const UNREADABLE_BODY = 'a body that cannot be read'
