import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { ipBlock } from '../lib/ip/ipBlock.ts'
import { apiErrors } from '../control/apiErrors.ts'
import { matchPublicHost } from '../control/matchPublicHost.ts'
import { toResponse } from '../control/toResponse.ts'
import type { ClientIp } from '../lib/ip/clientIp.ts'
import { createFairShares } from '../lib/createFairShares.ts'
import { strictTransport } from '../proxy/http/strictTransport.ts'
import { networkNames } from '../lib/network.ts'
import type { ServiceLogEntry } from './serviceLog.ts'
import { siteHeaders } from './siteHeaders.ts'
import { createStaticFiles } from './staticFiles.ts'

/** What answers `/api`. */
export interface ControlHandler {
  fetch(request: Request, env: { readonly ip: string; readonly requestId: string }): Response | Promise<Response>
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
  /** How long an answer may take until its caller has all of it, in milliseconds; then its connection is cut. @default 120_000 */
  readonly answerWithinMs?: number
  readonly log: (entry: ServiceLogEntry) => void
}

const defaultAnswerWithinMs = 120_000
/** Answers of the API in flight: each is in memory until its caller has all of it, and some are long. */
const mostAnswers = 1_000

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
export const createSite = ({
  publicUrl,
  networksUrl,
  control,
  folder,
  clientIp,
  answerWithinMs = defaultAnswerWithinMs,
  log,
}: SiteOptions): Site => {
  const { origin } = new URL(publicUrl)
  const connect = [new URL(networksUrl).origin].filter((other) => other !== origin)
  const headers = siteHeaders({ connect, strictTransportSecurity: strictTransport(publicUrl) })
  const files = folder === undefined ? undefined : createStaticFiles(folder, headers)
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Keyrail</title><p>Keyrail serves here. There is no dashboard in this installation; the control API is at <a href="${escaped(publicUrl)}/api/openapi.json">${escaped(publicUrl)}/api</a>.</html>`

  const rejectCrowd = (requestId: string): Response => {
    const rejection = apiErrors.tooManyInFlight()
    log({ event: 'control', requestId, route: 'other', status: rejection.status, code: rejection.code, durationMs: 0 })
    return toResponse({ error: rejection }, { requestId, now: Date.now() })
  }

  const answerPage = (request: IncomingMessage, response: ServerResponse): boolean => {
    if (files !== undefined) return files(request, response)
    if (pathOf(request) !== '/' || (request.method !== 'GET' && request.method !== 'HEAD')) return false
    response.writeHead(200, { ...headers, 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-cache' })
    response.end(request.method === 'HEAD' ? undefined : page)
    return true
  }

  const ipOf = ({ socket, headers: sent }: IncomingMessage): string => {
    const forwarded = sent['x-forwarded-for']
    return clientIp(socket.remoteAddress, typeof forwarded === 'string' ? forwarded : undefined) ?? ''
  }
  const answers = createFairShares(() => mostAnswers)
  const crowded = new WeakSet<object>()
  const requestIds = new WeakMap<object, string>()
  const answerApi = getRequestListener(
    (request, env) => {
      const incoming = env.incoming as IncomingMessage
      const requestId = requestIds.get(incoming) ?? ''
      return crowded.has(incoming) ? rejectCrowd(requestId) : control.fetch(request, { ip: ipOf(incoming), requestId })
    },
    // What stands there may repeat what was sent.
    { overrideGlobalObjects: false, errorHandler: () => new Response(null, { status: 400 }) },
  )

  /** Who takes nothing of its answer would keep its connection for ever. */
  const cutWhenLate = (response: ServerResponse): void => {
    const timer = setTimeout(() => response.destroy(), answerWithinMs)
    timer.unref()
    response.on('close', () => clearTimeout(timer))
  }

  return (request, response, requestId) => {
    const path = pathOf(request)
    // A whole URL as the target is for proxies, which this is none.
    if (!path.startsWith('/') || isOfNetwork(path)) return false
    if (isApi(path)) {
      const giveBack = answers.take(ipBlock(ipOf(request)))
      if (giveBack === undefined) crowded.add(request)
      else response.on('close', giveBack)
      cutWhenLate(response)
      if (request.headers.expect !== undefined) response.writeContinue()
      requestIds.set(request, requestId)
      // It checks the host and writes its log itself.
      void answerApi(request, response)
      return true
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    const startedAt = performance.now()
    response.setHeader('X-Request-Id', requestId)
    const isHere = matchPublicHost(publicUrl, request.headers.host ?? null) !== undefined
    if (isHere && !answerPage(request, response)) {
      response.removeHeader('X-Request-Id')
      return false
    }
    cutWhenLate(response)
    const { method } = request
    response.on('close', () => {
      const durationMs = Math.round((performance.now() - startedAt) * 1_000) / 1_000
      log({ event: 'page', requestId, method, status: response.statusCode, durationMs })
    })
    if (!isHere) misdirect(response, publicUrl)
    return true
  }
}

/** The address is the operator's own; the one that was asked is not repeated. */
const misdirect = (response: ServerResponse, publicUrl: string): void => {
  response.writeHead(421, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  })
  response.end(`This service answers at ${publicUrl} alone, which is its publicUrl\n`)
}
