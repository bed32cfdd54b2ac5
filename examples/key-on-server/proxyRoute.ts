import { isKeyrailError } from '@keyrail/core'
import type { Transport } from '@keyrail/core'

/** What a page may ask, and which. */
export interface ProxyRouteOptions {
  /** Carries the calls, with the key. */
  readonly transport: Transport
  /** Whose pages may ask, such as `https://shop.example`. */
  readonly origins: readonly string[]
  /** What may be asked, such as `eth_call`. */
  readonly methods: readonly string[]
  /** Of one request. @default 65_536 */
  readonly maxBytes?: number
}

/**
 * Makes a route that asks the node for a page: a function of web standards, as route handlers of Next.js and Workers take it.
 * No answer of it holds the key, nor says where the node is.
 */
export function createProxyRoute({
  transport,
  origins,
  methods,
  maxBytes = 65_536,
}: ProxyRouteOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const origin = request.headers.get('origin')
    // Browsers say where a page is from, and other programs say what they like: what they may use up, the key's own limits must say.
    if (!origin || !origins.includes(origin)) return answer(403, failed(null, -32600, 'This page may not ask here'))
    const headers = {
      vary: 'origin',
      'access-control-allow-origin': origin,
      'access-control-allow-headers': 'content-type',
      'access-control-max-age': '7200',
    }
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers })
    if (request.method !== 'POST') return answer(405, failed(null, -32600, 'Use POST'), { ...headers, allow: 'POST' })
    const text = await readText(request, maxBytes)
    if (text === undefined) return answer(413, failed(null, -32600, 'The request is too large'), headers)
    const call = readCall(text)
    if (!call) return answer(400, failed(null, -32600, 'Send one JSON-RPC call'), headers)
    const { id, method, params } = call
    if (!methods.includes(method)) return answer(200, failed(id, -32601, 'This method is not offered here'), headers)
    try {
      // What was checked is what is sent: the node never sees the text of the page.
      const result = await transport.request({ method, params }, { signal: request.signal })
      return answer(200, { jsonrpc: '2.0', id, result }, headers)
    } catch (error) {
      if (!isKeyrailError(error)) throw error
      // What the node says of the call, the page needs to know: why a contract reverted. All else is between this server and the service.
      const { kind, source, rpcError, retryAfterMs } = error
      if (source === 'node' && rpcError) return answer(200, { jsonrpc: '2.0', id, error: rpcError }, headers)
      const isBusy = kind === 'throttled' || kind === 'quota'
      const wait = retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) }
      return answer(isBusy ? 429 : 502, failed(id, -32603, `The node was not reached: ${kind}`), {
        ...headers,
        ...wait,
      })
    }
  }
}

type Id = string | number | null

const failed = (id: Id, code: number, message: string): object => ({ jsonrpc: '2.0', id, error: { code, message } })

const answer = (status: number, body: object, headers: Record<string, string> = {}): Response =>
  Response.json(body, { status, headers: { 'cache-control': 'no-store', ...headers } })

/** The body, unless it is too large. No more of it is read then. */
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

/** The call in a body; `undefined` where there is none. */
function readCall(text: string): { id: Id; method: string; params: readonly unknown[] } | undefined {
  try {
    const { id = null, method, params = [] } = Object(JSON.parse(text)) as Record<string, unknown>
    const isId = id === null || typeof id === 'string' || typeof id === 'number'
    return isId && typeof method === 'string' && Array.isArray(params) ? { id, method, params } : undefined
  } catch {
    return undefined
  }
}
