import type { RpcCall } from './exampleCalls.ts'

/** The error of a JSON-RPC response. */
export interface RpcError {
  readonly code?: number
  readonly message?: string
  /** Of a rejection by the service. */
  readonly reason?: string
}

/** The result of a request. */
export interface RequestResult {
  /** The methods that were called. */
  readonly methods: readonly string[]
  readonly latencyMs: number
  /** `undefined` if no response arrived. */
  readonly response?: {
    readonly status: number
    readonly requestId: string | undefined
    /** Formatted, and cut at 20 kB. */
    readonly text: string
    /** The length of the whole response, in bytes. */
    readonly bytes: number
    readonly isCut: boolean
    /** The result of a single call. */
    readonly result: unknown
    readonly error: RpcError | undefined
  }
  /** Why no response arrived. */
  readonly problem?: string
}

/** How long a response may take, in milliseconds. */
const timeoutMs = 10_000
/** The most characters of a response that are shown. */
const maxShown = 20_000

const toBody = (request: RpcCall | readonly RpcCall[]): unknown =>
  'method' in request
    ? { jsonrpc: '2.0', id: 1, ...request }
    : request.map((one, at) => ({ jsonrpc: '2.0', id: at + 1, ...one }))

interface RpcResponse {
  readonly result?: unknown
  readonly error?: {
    readonly code?: number
    readonly message?: string
    readonly data?: { readonly reason?: string } | null
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The error of a response, or the first one of a batch. */
const findError = (parsed: unknown): RpcError | undefined => {
  const responses = (Array.isArray(parsed) ? parsed : [parsed]) as readonly (RpcResponse | null | undefined)[]
  const error = responses.find((one) => one?.error)?.error
  if (error === undefined) return undefined
  const { code, message, data } = error
  const reason = data?.reason
  return {
    ...(code !== undefined && { code }),
    ...(message !== undefined && { message }),
    ...(reason !== undefined && { reason }),
  }
}

/**
 * Sends JSON-RPC calls from the page, as a program would: without the cookie of the session. Never throws.
 * @param url - The full URL with the key.
 * @param options.token - A JWT.
 * @param options.signal - Cancels it.
 */
export async function sendRequest(
  url: string,
  request: RpcCall | readonly RpcCall[],
  options: { readonly token?: string; readonly signal: AbortSignal },
): Promise<RequestResult> {
  const methods = 'method' in request ? [request.method] : request.map(({ method }) => method)
  const timeout = AbortSignal.timeout(timeoutMs)
  const startedAt = performance.now()
  const getLatencyMs = (): number => performance.now() - startedAt
  try {
    const response = await fetch(url, {
      method: 'POST',
      credentials: 'omit',
      redirect: 'error',
      headers: {
        'content-type': 'application/json',
        ...(options.token !== undefined && { authorization: `Bearer ${options.token}` }),
      },
      body: JSON.stringify(toBody(request)),
      signal: AbortSignal.any([options.signal, timeout]),
    })
    const text = await response.text()
    const latencyMs = getLatencyMs()
    const parsed = parse(text)
    const pretty = parsed === undefined ? text : JSON.stringify(parsed, undefined, 2)
    return {
      methods,
      latencyMs,
      response: {
        status: response.status,
        requestId: response.headers.get('x-request-id') ?? undefined,
        text: pretty.slice(0, maxShown),
        bytes: new Blob([text]).size,
        isCut: pretty.length > maxShown,
        result: (parsed as RpcResponse | null | undefined)?.result,
        error: findError(parsed),
      },
    }
  } catch {
    return {
      methods,
      latencyMs: getLatencyMs(),
      problem: timeout.aborted
        ? 'No response within 10 s, so the request was canceled.'
        : 'The service does not respond.',
    }
  }
}
