import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { ClientIp } from '../http/clientIp.ts'
import { networkNames } from '../network.ts'
import type { ServiceLogEntry } from './serviceLog.ts'
import { siteHeaders } from './siteHeaders.ts'
import { createStaticFiles } from './staticFiles.ts'

/** What answers `/api`. */
export interface ControlHandler {
  fetch(request: Request, env: { ip: string; requestId: string }): Response | Promise<Response>
}

/** What is served beside the networks: the control API and the dashboard. @returns Whether it was a request for them. */
export type Site = (request: IncomingMessage, response: ServerResponse, requestId: string) => boolean

/** What a site is made of. */
export interface SiteOptions {
  /** Where browsers reach it. It answers to this host alone, so that no other name can be pointed at it. */
  readonly publicUrl: string
  /** Where the networks are reached: pages may call there, also where that is another origin. */
  readonly networksUrl: string
  readonly control: ControlHandler
  /** The folder of the built pages; without one there is a line that says where the API is. */
  readonly folder?: string | undefined
  readonly clientIp: ClientIp
  readonly log: (entry: ServiceLogEntry) => void
}

const hostOf = (protocol: string, host: string): string | undefined => URL.parse(`${protocol}//${host}/`)?.host

const pathOf = (request: IncomingMessage): string => (request.url ?? '').split(/[?#]/, 1)[0] ?? ''

const isApi = (path: string): boolean => path === '/api' || path.startsWith('/api/')
const isOfNetwork = (path: string): boolean =>
  networkNames.some((network) => path === `/${network}` || path.startsWith(`/${network}/`))

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/**
 * Makes the site.
 * @throws {ConfigError} where the folder holds no pages.
 */
export const createSite = ({ publicUrl, networksUrl, control, folder, clientIp, log }: SiteOptions): Site => {
  const { protocol, host, origin } = new URL(publicUrl)
  const connect = [new URL(networksUrl).origin].filter((other) => other !== origin)
  const headers = siteHeaders({ connect })
  const files = folder === undefined ? undefined : createStaticFiles(folder, headers)
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Keyrail</title><p>Keyrail serves here. There is no dashboard in this installation; the control API is at <a href="${escaped(publicUrl)}/api/openapi.json">${escaped(publicUrl)}/api</a>.</html>`

  const answerPage = (request: IncomingMessage, response: ServerResponse): boolean => {
    if (files !== undefined) return files(request, response)
    if (pathOf(request) !== '/' || (request.method !== 'GET' && request.method !== 'HEAD')) return false
    response.writeHead(200, { ...headers, 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-cache' })
    response.end(request.method === 'HEAD' ? undefined : page)
    return true
  }

  // Its errors hold what a caller sent; which request it was is enough.
  const requestIds = new WeakMap<IncomingMessage, string>()
  const answerApi = getRequestListener(
    async (request, env) => {
      const incoming = env.incoming as IncomingMessage
      const requestId = requestIds.get(incoming) ?? ''
      const forwarded = incoming.headers['x-forwarded-for']
      const ip = clientIp(incoming.socket.remoteAddress, typeof forwarded === 'string' ? forwarded : undefined) ?? ''
      try {
        return await control.fetch(request, { ip, requestId })
      } catch (error) {
        log({ event: 'failed', where: 'control', reason: error instanceof Error ? error.name : 'no error' })
        return refusal(500, 'internal', { message: 'Something went wrong on our side', requestId })
      }
    },
    { overrideGlobalObjects: false, errorHandler: () => new Response(null, { status: 400 }) },
  )

  return (request, response, requestId) => {
    const path = pathOf(request)
    const area = isApi(path) ? 'api' : 'dashboard'
    // A whole URL as the target is for proxies, which this is none.
    if (!path.startsWith('/') || isOfNetwork(path)) return false
    if (area === 'dashboard' && request.method !== 'GET' && request.method !== 'HEAD') return false
    const startedAt = performance.now()
    response.setHeader('X-Request-Id', requestId)
    const isHere = hostOf(protocol, request.headers.host ?? '') === host
    if (isHere && area === 'dashboard' && !answerPage(request, response)) {
      response.removeHeader('X-Request-Id')
      return false
    }
    response.on('close', () => {
      const durationMs = Math.round((performance.now() - startedAt) * 1_000) / 1_000
      log({ event: 'site', requestId, area, method: shownMethod(request), status: response.statusCode, durationMs })
    })
    if (!isHere) misdirected(response, { area, publicUrl, requestId })
    else if (area === 'api') {
      if (request.headers.expect !== undefined) response.writeContinue()
      requestIds.set(request, requestId)
      void answerApi(request, response)
    }
    return true
  }
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const shownMethod = ({ method = '' }: IncomingMessage): string => (methods.has(method) ? method : 'other')

const refusalText = (code: string, { message, requestId }: { message: string; requestId: string }): string =>
  JSON.stringify({ error: { code, message, requestId } })

const refusal = (status: number, code: string, said: { message: string; requestId: string }): Response =>
  new Response(refusalText(code, said), {
    status,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
  })

/** The address is the operator's own; the one that was asked is not repeated. */
const misdirected = (
  response: ServerResponse,
  { area, publicUrl, requestId }: { area: 'api' | 'dashboard'; publicUrl: string; requestId: string },
): void => {
  const message = `This service is reached at ${publicUrl}`
  const isJson = area === 'api'
  response.writeHead(421, {
    'Content-Type': isJson ? 'application/json' : 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  })
  response.end(isJson ? refusalText('misdirected', { message, requestId }) : `${message}\n`)
}
