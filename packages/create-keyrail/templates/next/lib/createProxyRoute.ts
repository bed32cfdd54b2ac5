import { isKeyrailError } from '@keyrail/core'
import type { Transport } from '@keyrail/core'

/** Options of {@link createProxyRoute}. */
export interface ProxyRouteOptions {
  /** Sends the calls, with the key. */
  readonly transport: Transport
  /** The origins of other pages that may call, such as `https://shop.example`. Pages of the route's own origin always may. */
  readonly origins: readonly string[]
  /** The allowed methods, such as `eth_call`. */
  readonly methods: readonly string[]
  /** The maximum size of a request body. @default 65_536 */
  readonly maxBytes?: number
}

/**
 * Creates a route that sends the calls of a page to the node: a function from `Request` to `Response`, for route handlers of Next.js and for
 * Workers. Its responses contain neither the key nor the URL of the node.
 */
export function createProxyRoute({
  transport,
  origins,
  methods,
  maxBytes = 65_536,
}: ProxyRouteOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const origin = request.headers.get('origin')
    // Browsers send the true origin, but other programs can send any: only the limits of the key protect its quota from them.
    if (!origin) return respond(403, createError(null, -32600, 'The request has no Origin header'))
    if (!isSameOrigin(request, origin) && !origins.includes(origin))
      return respond(403, createError(null, -32600, `The origin ${origin} is not allowed. Add it to ORIGINS`))
    const headers = {
      vary: 'origin',
      'access-control-allow-origin': origin,
      'access-control-allow-headers': 'content-type',
      'access-control-max-age': '7200',
    }
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers })
    if (request.method !== 'POST')
      return respond(405, createError(null, -32600, 'Use POST'), { ...headers, allow: 'POST' })
    const text = await readText(request, maxBytes)
    if (text === undefined) return respond(413, createError(null, -32600, 'The request is too large'), headers)
    const call = readCall(text)
    if (!call) return respond(400, createError(null, -32600, 'Send one JSON-RPC call'), headers)
    const { id, method, params } = call
    if (!methods.includes(method)) return respond(200, createError(id, -32601, 'This method is not allowed'), headers)
    try {
      // Sends the parsed call: the node never gets the original text.
      const result = await transport.request({ method, params }, { signal: request.signal })
      return respond(200, { jsonrpc: '2.0', id, result }, headers)
    } catch (error) {
      if (!isKeyrailError(error)) throw error
      // The page needs the error of the node, such as a revert reason. It must not see other failures.
      const { kind, source, rpcError, retryAfterMs } = error
      if (source === 'node' && rpcError) return respond(200, { jsonrpc: '2.0', id, error: rpcError }, headers)
      // The message contains the redacted URL, and how to fix the failure.
      console.error(error.message)
      const isBusy = kind === 'throttled' || kind === 'quota'
      const wait: Record<string, string> =
        retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) }
      return respond(isBusy ? 429 : 502, createError(id, -32603, `The call failed: ${kind}`), {
        ...headers,
        ...wait,
      })
    }
  }
}

/**
 * Whether the page has the origin of the route, on any host and port. Browsers set both headers, and no page can change them. They send
 * `Sec-Fetch-Site` only over https and to localhost; a proxy may change `Host`.
 */
const isSameOrigin = ({ headers, url }: Request, origin: string): boolean =>
  headers.get('sec-fetch-site') === 'same-origin' ||
  URL.parse(origin)?.host === (headers.get('host') ?? new URL(url).host)

type Id = string | number | null

const createError = (id: Id, code: number, message: string): object => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})

const respond = (status: number, body: object, headers: Record<string, string> = {}): Response =>
  Response.json(body, { status, headers: { 'cache-control': 'no-store', ...headers } })

/** Reads the body; undefined if it is too large, without reading the rest. */
async function readText({ body }: Request, maxBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) return undefined
    chunks.push(chunk)
  }
  return new Blob(chunks).text()
}

/** Parses the call in a body; undefined if it is not one call. */
function readCall(text: string): { id: Id; method: string; params: readonly unknown[] } | undefined {
  try {
    const { id = null, method, params = [] } = Object(JSON.parse(text)) as Record<string, unknown>
    const isId = id === null || typeof id === 'string' || typeof id === 'number'
    return isId && typeof method === 'string' && Array.isArray(params) ? { id, method, params } : undefined
  } catch {
    return undefined
  }
}
