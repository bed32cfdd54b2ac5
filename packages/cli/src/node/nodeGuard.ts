import { createServer, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An HTTP server on 127.0.0.1 that forwards requests to a node, except those from web pages. */
export interface NodeGuard {
  readonly url: string
  /** Closes the server and every connection. */
  readonly close: () => Promise<void>
}

/** Host names that always mean this machine. Any other name can resolve to it (DNS rebinding). */
const loopbackNames: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]'])

const hint = 'call the service instead, with the URL of an app or of an API key'

/** Checks that a request cannot come from a web page. @returns The rejection, if any. */
function checkRequest({ method, headers }: IncomingMessage): { status: number; message: string } | undefined {
  const name = URL.parse(`http://${headers.host ?? ''}`)?.hostname ?? ''
  if (!loopbackNames.has(name)) {
    return { status: 403, message: 'the embedded node only accepts the host names 127.0.0.1 and localhost' }
  }
  // Browsers send Origin with every POST and WebSocket, and Sec-Fetch-Site with every request. Other programs send neither.
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined) {
    return { status: 403, message: `the embedded node does not accept requests from browsers; ${hint}` }
  }
  if (method !== 'POST') return { status: 405, message: 'the embedded node only accepts POST requests' }
  const mediaType = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (mediaType !== 'application/json') {
    return { status: 415, message: 'the embedded node requires the header content-type: application/json' }
  }
  return undefined
}

function reject(response: ServerResponse, { status, message }: { status: number; message: string }): void {
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message } })
  // The request body is not read, so the connection cannot be reused.
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body)
}

function forward(target: URL, name: string, request: IncomingMessage, response: ServerResponse): void {
  const send = target.protocol === 'https:' ? httpsRequest : httpRequest
  const { 'content-type': contentType, 'content-length': length, 'user-agent': userAgent } = request.headers
  const upstream = send(target, {
    method: 'POST',
    headers: {
      'content-type': contentType,
      ...(length === undefined ? {} : { 'content-length': length }),
      ...(userAgent === undefined ? {} : { 'user-agent': userAgent }),
    },
  })
  upstream.on('response', (incoming) => {
    response.writeHead(incoming.statusCode ?? 502, {
      'content-type': incoming.headers['content-type'] ?? 'application/json',
    })
    incoming.pipe(response)
    incoming.on('error', () => response.destroy())
  })
  upstream.on('error', () => {
    if (response.headersSent) response.destroy()
    else reject(response, { status: 502, message: `${name} did not respond` })
  })
  response.on('close', () => upstream.destroy())
  request.pipe(upstream)
}

/**
 * Starts a guard in front of a node that accepts requests from anyone, web pages included. It rejects requests from browsers, and any `Host`
 * other than this machine's own names, which protects against DNS rebinding.
 *
 * @param target - The URL of the node: `http://127.4.5.6:6667`.
 * @param name - The node in errors. @default 'the embedded node'
 * @returns The guard. Its `url` is for programs other than web pages: cast, curl, scripts.
 * @throws {Error} if no port is available.
 * @example
 * const guard = await startNodeGuard('http://127.4.5.6:6667')
 * console.log(guard.url) // http://127.0.0.1:41287
 * await guard.close()
 * @see Fetch standard, "HTTP-network-or-cache fetch" (Origin); Fetch Metadata Request Headers
 */
export async function startNodeGuard(target: string, name = 'the embedded node'): Promise<NodeGuard> {
  const targetUrl = new URL(target)
  const server = createServer((request, response) => {
    const rejection = checkRequest(request)
    if (rejection === undefined) forward(targetUrl, name, request, response)
    else reject(response, rejection)
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
