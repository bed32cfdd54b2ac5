import { createServer, request as httpRequest } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An HTTP server on 127.0.0.1 that passes requests on to a node, except those of web pages. */
export interface NodeGuard {
  readonly url: string
  /** Closes the server and every connection. */
  readonly close: () => Promise<void>
}

/** Names that always mean this machine. Any other name can be pointed at it (DNS rebinding). */
const loopbackNames: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]'])

const hint = 'web pages must call the service: use an address of the app or of an API key instead'

/** Why a request is rejected; undefined for one that no web page can have sent. */
function findFault({ method, headers }: IncomingMessage): { status: number; message: string } | undefined {
  const name = URL.parse(`http://${headers.host ?? ''}`)?.hostname ?? ''
  if (!loopbackNames.has(name)) {
    return { status: 403, message: 'the embedded node only answers to the host names 127.0.0.1 and localhost' }
  }
  // Browsers send Origin with every POST and every WebSocket, and Sec-Fetch-Site with everything. Other programs send neither.
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined) {
    return { status: 403, message: `the embedded node takes no requests from browsers; ${hint}` }
  }
  if (method !== 'POST') return { status: 405, message: 'the embedded node only takes POST requests' }
  const mediaType = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (mediaType !== 'application/json') {
    return { status: 415, message: 'the embedded node needs the header content-type: application/json' }
  }
  return undefined
}

function reject(response: ServerResponse, { status, message }: { status: number; message: string }): void {
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message } })
  // The body of a rejected request is never read, so the connection cannot be used again.
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body)
}

function forward(target: URL, request: IncomingMessage, response: ServerResponse): void {
  const { 'content-type': contentType, 'content-length': length, 'user-agent': userAgent } = request.headers
  const upstream = httpRequest(target, {
    method: 'POST',
    headers: {
      'content-type': contentType,
      ...(length === undefined ? {} : { 'content-length': length }),
      ...(userAgent === undefined ? {} : { 'user-agent': userAgent }),
    },
  })
  upstream.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, {
      'content-type': answer.headers['content-type'] ?? 'application/json',
    })
    answer.pipe(response)
    answer.on('error', () => response.destroy())
  })
  upstream.on('error', () => {
    if (response.headersSent) response.destroy()
    else reject(response, { status: 502, message: 'the embedded node did not answer' })
  })
  response.on('close', () => upstream.destroy())
  request.pipe(upstream)
}

/**
 * Starts a guard in front of a node that itself answers anyone, web pages included: it rejects what a browser sent, and any
 * `Host` other than this machine's own names, which is how a page arrives whose name was rebound to 127.0.0.1.
 *
 * @param target - Where the node listens: `http://127.4.5.6:6667`.
 * @returns The guard. Its `url` is for programs that are not web pages: cast, curl, scripts.
 * @throws {Error} where no port can be had.
 * @example
 * const guard = await startNodeGuard('http://127.4.5.6:6667')
 * console.log(guard.url) // http://127.0.0.1:41287
 * await guard.close()
 * @see Fetch standard, "HTTP-network-or-cache fetch" (Origin); Fetch Metadata Request Headers
 */
export async function startNodeGuard(target: string): Promise<NodeGuard> {
  const targetUrl = new URL(target)
  const server = createServer((request, response) => {
    const fault = findFault(request)
    if (fault === undefined) forward(targetUrl, request, response)
    else reject(response, fault)
  })
  await new Promise<void>((resolve, fail) => {
    server.once('error', fail)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}
