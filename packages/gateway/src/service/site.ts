import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { toIpBlock } from '../lib/ip/toIpBlock.ts'
import { apiErrors } from '../control/apiErrors.ts'
import { matchPublicHost } from '../control/matchPublicHost.ts'
import { toResponse } from '../control/toResponse.ts'
import type { ClientIp } from '../lib/ip/clientIp.ts'
import { createFairShares } from '../lib/createFairShares.ts'
import { strictTransport } from '../proxy/http/strictTransport.ts'
import type { ServiceLogEntry } from './serviceLog.ts'
import { siteHeaders } from './siteHeaders.ts'
import { createStaticFiles } from './staticFiles.ts'

/** Handles requests to `/api`. */
export interface ControlHandler {
  fetch(request: Request, env: { readonly ip: string; readonly requestId: string }): Response | Promise<Response>
}

/** Handles a request for the control API or the dashboard. @returns Whether it was one; if not, the response is untouched. */
export type Site = (request: IncomingMessage, response: ServerResponse, requestId: string) => boolean

/** Options of {@link createSite}. */
export interface SiteOptions {
  /** The URL of the site. It only responds to this host, which prevents DNS rebinding. */
  readonly publicUrl: string
  /** The URL of the networks. Pages may call it, also on another origin. */
  readonly networksUrl: string
  readonly control: ControlHandler
  /** The folder of the built pages. @default none: `/` is a page that links to the API */
  readonly folder?: string | undefined
  readonly clientIp: ClientIp
  /** How long a response may take until the client has received it, in milliseconds. Then its connection is closed. @default 120_000 */
  readonly responseTimeoutMs?: number
  readonly log: (entry: ServiceLogEntry) => void
}

const defaultResponseTimeoutMs = 120_000
/** API responses in flight. Each is in memory until its client has received it, and some are large. */
const maxResponses = 1_000

const getPath = (request: IncomingMessage): string => (request.url ?? '').split(/[?#]/, 1)[0] ?? ''

const isApi = (path: string): boolean => path === '/api' || path.startsWith('/api/')

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/**
 * Creates the site: the control API and the dashboard.
 * @throws {ConfigError} if the folder has no `index.html`.
 */
export const createSite = ({
  publicUrl,
  networksUrl,
  control,
  folder,
  clientIp,
  responseTimeoutMs = defaultResponseTimeoutMs,
  log,
}: SiteOptions): Site => {
  const { origin } = new URL(publicUrl)
  const connect = [new URL(networksUrl).origin].filter((other) => other !== origin)
  const headers = siteHeaders({ connect, strictTransportSecurity: strictTransport(publicUrl) })
  const files = folder === undefined ? undefined : createStaticFiles(folder, headers)
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Keyrail</title><p>Keyrail is running. This installation has no dashboard. The control API is at <a href="${escapeHtml(publicUrl)}/api/openapi.json">${escapeHtml(publicUrl)}/api</a>.</html>`

  const rejectCrowd = (requestId: string): Response => {
    const rejection = apiErrors.tooManyInFlight()
    log({ event: 'control', requestId, route: 'other', status: rejection.status, code: rejection.code, durationMs: 0 })
    return toResponse({ error: rejection }, { requestId, now: Date.now() })
  }

  const servePage = (request: IncomingMessage, response: ServerResponse): boolean => {
    if (files !== undefined) return files(request, response)
    if (getPath(request) !== '/' || (request.method !== 'GET' && request.method !== 'HEAD')) return false
    response.writeHead(200, { ...headers, 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-cache' })
    response.end(request.method === 'HEAD' ? undefined : page)
    return true
  }

  const getIp = ({ socket, headers: sent }: IncomingMessage): string => {
    const forwarded = sent['x-forwarded-for']
    return clientIp(socket.remoteAddress, typeof forwarded === 'string' ? forwarded : undefined) ?? ''
  }
  const responses = createFairShares(() => maxResponses)
  const crowded = new WeakSet<object>()
  const requestIds = new WeakMap<object, string>()
  const handleApi = getRequestListener(
    (request, env) => {
      const incoming = env.incoming as IncomingMessage
      const requestId = requestIds.get(incoming) ?? ''
      return crowded.has(incoming) ? rejectCrowd(requestId) : control.fetch(request, { ip: getIp(incoming), requestId })
    },
    // The default error response can repeat the request.
    { overrideGlobalObjects: false, errorHandler: () => new Response(null, { status: 400 }) },
  )

  /** Otherwise a client that does not read its response would keep its connection open. */
  const closeAfterTimeout = (response: ServerResponse): void => {
    const timer = setTimeout(() => response.destroy(), responseTimeoutMs)
    timer.unref()
    response.on('close', () => clearTimeout(timer))
  }

  return (request, response, requestId) => {
    const path = getPath(request)
    // Only proxies get a full URL as the request target.
    if (!path.startsWith('/')) return false
    if (isApi(path)) {
      const release = responses.take(toIpBlock(getIp(request)))
      if (release === undefined) crowded.add(request)
      else response.on('close', release)
      closeAfterTimeout(response)
      if (request.headers.expect !== undefined) response.writeContinue()
      requestIds.set(request, requestId)
      // The API checks the host and writes its own log entry.
      void handleApi(request, response)
      return true
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    const startedAt = performance.now()
    response.setHeader('X-Request-Id', requestId)
    const isPublicHost = matchPublicHost(publicUrl, request.headers.host ?? null) !== undefined
    if (isPublicHost && !servePage(request, response)) {
      response.removeHeader('X-Request-Id')
      return false
    }
    closeAfterTimeout(response)
    const { method } = request
    response.on('close', () => {
      const durationMs = Math.round((performance.now() - startedAt) * 1_000) / 1_000
      log({ event: 'page', requestId, method, status: response.statusCode, durationMs })
    })
    if (!isPublicHost) rejectHost(response, publicUrl)
    return true
  }
}

/** Names the public URL. The host of the request is not repeated. */
const rejectHost = (response: ServerResponse, publicUrl: string): void => {
  response.writeHead(421, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  })
  response.end(`This service only responds at its publicUrl, ${publicUrl}\n`)
}
