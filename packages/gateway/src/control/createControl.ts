import { randomUUID } from 'node:crypto'
import { Hono } from 'hono'
import { isAccountError } from './account/accountError.ts'
import { createThrottle } from './account/createThrottle.ts'
import { findStaleFactor } from './account/startSession.ts'
import { monotonicClock } from '../lib/clock.ts'
import { createFaultLog } from '../errors/faultLog.ts'
import { strictTransport } from '../proxy/http/strictTransport.ts'
import { isStorageError } from '../errors/storageError.ts'
import { authorizeRoute } from './authorizeRoute.ts'
import type { ConfirmBody } from './contract/controlApi.d.ts'
import type { RouteName } from './contract/routeName.ts'
import { openApi } from './contract/openApi.ts'
import type { ControlFault, ControlOptions } from './controlOptions.ts'
import { apiErrors } from './apiErrors.ts'
import type { ApiError } from './apiErrors.ts'
import { createKeyedLimiter } from '../lib/createLimiter.ts'
import type { ControlParts, HandlerResult, Route } from './route.ts'
import { routes } from './routes.ts'
import { MembershipEnded } from './changeWithAudit.ts'
import { createPublishedPackages } from './publishedPackages.ts'
import { matchPublicHost } from './matchPublicHost.ts'
import type { PublicHost } from './matchPublicHost.ts'
import { readInput } from './readInput.ts'
import { toResponse } from './toResponse.ts'

/** Facts about a request that the request itself does not contain. */
interface ControlEnv {
  readonly ip: string
  readonly requestId?: string
}

/** The control API. */
export interface Control {
  /**
   * Responds to a request to `/api`. The promise never rejects.
   * @param env.ip - The client's IP address, after applying `trustedProxies`.
   * @param env.requestId - The request's id in logs and in the response. @default a random UUID
   */
  fetch(request: Request, env: ControlEnv): Promise<Response>
}

/** How many changes an account can make at once, and the interval after which it can make another. */
const writes = { burst: 120, intervalMs: 500 }
/** The same for reads. A live page of the dashboard makes about one per second. */
const reads = { burst: 200, intervalMs: 50 }
/** Reads of metrics, of activity, of origins and of CSV files are the most expensive, so each account has its own queue for them. */
const expensiveReads = { maxRunning: 2, maxQueued: 30 }

interface Outcome {
  readonly result: HandlerResult<unknown>
  readonly userId?: string | undefined
}

/**
 * Creates the control API. It authorizes, validates and rate-limits requests as their routes declare, then calls the handlers.
 * @example
 * declare const options: Parameters<typeof createControl>[0]
 * const control = createControl(options)
 * const response = await control.fetch(new Request('http://localhost:8080/api/deployment'), { ip: '127.0.0.1' })
 */
export const createControl = (options: ControlOptions): Control => {
  const { now = Date.now, degraded = () => [], upstreams = () => [], log = () => {} } = options
  const { readProblems = async () => [], readUpstreamDays = async () => [] } = options
  const parts: ControlParts = {
    ...options,
    now,
    degraded,
    upstreams,
    readProblems,
    readUpstreamDays,
    startedAt: now(),
    getDocument: createDocument(),
    getPublishedPackages: createPublishedPackages(now),
  }
  const monotonicNow = monotonicClock(options.now)
  const throttles = {
    changes: createThrottle({ ...writes, now: monotonicNow }),
    reads: createThrottle({ ...reads, now: monotonicNow }),
  }
  const expensiveLimiter = createKeyedLimiter(expensiveReads)

  const safeLog: typeof log = (entry) => {
    try {
      log(entry)
    } catch {
      // A failing logger must not fail a request.
    }
  }

  const faults = createFaultLog<ControlFault>(safeLog, ({ error }) => error)

  const handle = async (
    route: Route,
    request: Request,
    { ip, host, params }: { ip: string; host: PublicHost; params: Readonly<Record<string, string>> },
  ): Promise<Outcome> => {
    const { headers, method } = request
    const changes = method !== 'GET' && method !== 'HEAD'
    const authorized = await authorizeRoute({
      accounts: parts.accounts,
      config: parts.config(),
      route,
      writes: changes,
      headers,
      host,
      ip,
    })
    if ('error' in authorized) return { result: authorized }
    const { caller } = authorized
    const userId = caller.viewer?.user.id
    const kind = changes ? 'changes' : 'reads'
    if (userId !== undefined) {
      const waitMs = throttles[kind].waitMs(userId)
      if (waitMs > 0) return { result: { error: apiErrors.tooManyRequests(waitMs, kind) }, userId }
      throttles[kind].record(userId)
    }
    const input = await readInput(request, route, params)
    if ('error' in input) return { result: input, userId }
    // The operator token needs no confirmation. Neither does an access token, whose creation was confirmed.
    if (route.confirms !== undefined && caller.viewer !== undefined && caller.viewer.tokenId === undefined) {
      const confirmed =
        route.confirms === 'factor'
          ? findStaleFactor(caller.viewer, now())
          : await parts.accounts.confirm(caller.viewer, (input.body as ConfirmBody).password)
      if (isAccountError(confirmed)) return { result: { error: apiErrors.fromAccountError(confirmed) }, userId }
    }
    const work = async () => route.handle({ ...input, caller }, parts)
    const result =
      userId !== undefined && route.isExpensive === true ? await expensiveLimiter.run(userId, work) : await work()
    return { result: result === 'full' ? { error: apiErrors.tooManyRequests(1_000, 'reads') } : result, userId }
  }

  const run = async (
    route: Route | undefined,
    { request, env }: { request: Request; env: ControlEnv },
    work: (host: PublicHost) => Promise<Outcome>,
  ): Promise<Response> => {
    const { requestId = randomUUID() } = env
    const name = (route?.name ?? 'other') as RouteName | 'other'
    const startedAt = monotonicNow()
    let outcome: Outcome
    let strictTransportSecurity: string | undefined
    try {
      const { publicUrl, controlUrl = publicUrl } = parts.deployment()
      const host = matchPublicHost(controlUrl, request.headers.get('host'))
      if (host !== undefined) strictTransportSecurity = strictTransport(controlUrl)
      outcome =
        host === undefined ? { result: { error: apiErrors.misdirected(new URL(controlUrl).origin) } } : await work(host)
    } catch (error) {
      const isEnded = error instanceof MembershipEnded
      outcome = {
        result: {
          error: isEnded
            ? apiErrors.membershipEnded()
            : isStorageError(error)
              ? apiErrors.unavailable()
              : apiErrors.internal(),
        },
      }
      // An error's message may contain values from the request; its class and stack frame do not.
      if (!isEnded) faults.log({ event: 'controlFault', requestId, route: name, error: describeFault(error), count: 1 })
    }
    const { result, userId } = outcome
    const response = toResponse(result, {
      requestId,
      now: now(),
      strictTransportSecurity,
      ...(route === undefined ? {} : { route }),
    })
    safeLog({
      event: 'control',
      requestId,
      route: name,
      status: response.status,
      ...('error' in result ? { code: result.error.code } : {}),
      ...(userId === undefined ? {} : { userId }),
      durationMs: Math.round((monotonicNow() - startedAt) * 1_000) / 1_000,
    })
    return response
  }

  const app = new Hono<{ Bindings: ControlEnv }>()
  const methods = new Map<string, string[]>()
  for (const route of routes) {
    const [method = '', path = ''] = route.name.split(' ')
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1')
    methods.set(pattern, [...(methods.get(pattern) ?? []), method])
    app.on(method, pattern, ({ req, env }) =>
      run(route, { request: req.raw, env }, (host) =>
        handle(route, req.raw, { ip: env.ip, host, params: req.param() }),
      ),
    )
  }
  const reject = ({ req, env }: { req: { raw: Request }; env: ControlEnv }, error: ApiError) =>
    run(undefined, { request: req.raw, env }, async () => ({ result: { error } }))
  for (const [pattern, allowed] of methods)
    app.all(pattern, (context) => reject(context, apiErrors.methodNotAllowed(allowed.join(', '))))
  app.notFound((context) => reject(context, apiErrors.notFound()))

  return { fetch: async (request, env) => app.fetch(request, env) }
}

/** The parts of an error that are safe to log. */
const describeFault = (error: unknown): string => {
  if (isStorageError(error)) return error.message
  if (!(error instanceof Error)) return 'a value that is not an Error was thrown'
  const frame = /\n\s+at (.*)/.exec(error.stack ?? '')?.[1] ?? 'an unknown location'
  return `${error.name} at ${frame}`
}

/** Caches the OpenAPI document: generating it takes about 10 ms, and anonymous clients can request it. */
const createDocument = (): ControlParts['getDocument'] => {
  let cached: (ReturnType<ControlParts['getDocument']> & { readonly publicUrl: string }) | undefined
  return (publicUrl) => {
    if (cached?.publicUrl !== publicUrl) {
      const response = openApi({ publicUrl })
      cached = { publicUrl, response, text: JSON.stringify(response) }
    }
    return cached
  }
}
