import { randomUUID } from 'node:crypto'
import { Hono } from 'hono'
import { createThrottle } from './account/createThrottle.ts'
import { monotonicClock } from '../lib/clock.ts'
import { createFaultLog } from '../errors/faultLog.ts'
import { strictTransport } from '../proxy/http/strictTransport.ts'
import { isStorageError } from '../errors/storageError.ts'
import { admit } from './admit.ts'
import type { ConfirmBody } from './contract/account.ts'
import type { RouteName } from './contract/route.ts'
import { routeNames, routeOf } from './contract/routes.ts'
import type { ControlFault, ControlOptions } from './controlOptions.ts'
import { apiErrors } from './apiErrors.ts'
import { createKeyedLimiter } from '../lib/createLimiter.ts'
import { viewerOf } from './handler.ts'
import type { ControlParts, Handler } from './handler.ts'
import { createHandlers } from './handlers/createHandlers.ts'
import { publicHost } from './publicHost.ts'
import type { PublicHost } from './publicHost.ts'
import { readInput } from './readInput.ts'
import type { ApiError, Reply } from './reply.ts'
import { toResponse } from './toResponse.ts'

/** What is known of a request besides itself. */
interface ControlEnv {
  readonly ip: string
  readonly requestId?: string
}

/** The control API. */
export interface Control {
  /**
   * Answers a request to `/api`. Never rejects.
   * @param env.ip - The caller's, as `trustedProxies` make it.
   * @param env.requestId - What logs and the answer call the request. @default a random one
   */
  fetch(request: Request, env: ControlEnv): Promise<Response>
}

/** Changes that an account can make at once, and how long it then takes to pay for one. */
const writes = { burst: 120, intervalMs: 500 }
/** The same of reads. A live page of the dashboard makes about one a second. */
const reads = { burst: 200, intervalMs: 50 }
/** Reads of metrics are the heaviest: of an account's, so many are in flight, and so many wait. */
const metricsReads = { maxRunning: 2, maxQueued: 30 }
const isMetricsRead = (name: RouteName): boolean => /\/metrics(?:\.csv)?$/.test(name)

interface Outcome {
  readonly reply: Reply<unknown>
  readonly userId?: string | undefined
}

/**
 * Makes the control API: it reads, admits, and hands on to the handlers what the contract's table of routes declares, and nothing else.
 * @example
 * declare const options: Parameters<typeof createControl>[0]
 * const control = createControl(options)
 * const response = await control.fetch(new Request('http://localhost:8080/api/deployment'), { ip: '127.0.0.1' })
 */
export const createControl = (options: ControlOptions): Control => {
  const { now = Date.now, degraded = () => [], log = () => {} } = options
  const parts: ControlParts = { ...options, now, degraded, startedAt: now() }
  const handlers = createHandlers(parts)
  const monotonicNow = monotonicClock(options.now)
  const throttles = {
    changes: createThrottle({ ...writes, now: monotonicNow }),
    reads: createThrottle({ ...reads, now: monotonicNow }),
  }
  const metricsLimiter = createKeyedLimiter(metricsReads)

  const tell: typeof log = (entry) => {
    try {
      log(entry)
    } catch {
      // What writes logs must not fail a request.
    }
  }

  const faults = createFaultLog<ControlFault>(tell, ({ error }) => error)

  const answer = async (
    name: RouteName,
    request: Request,
    { ip, host, params }: { ip: string; host: PublicHost; params: Readonly<Record<string, string>> },
  ): Promise<Outcome> => {
    const route = routeOf(name)
    const { headers, method } = request
    const changes = method !== 'GET' && method !== 'HEAD'
    const admitted = await admit({ accounts: parts.accounts, route, writes: changes, headers, host, ip })
    if ('rejection' in admitted) return { reply: admitted }
    const { caller } = admitted
    const userId = caller.viewer?.user.id
    const kind = changes ? 'changes' : 'reads'
    if (userId !== undefined) {
      const waitMs = throttles[kind].waitMs(userId)
      if (waitMs > 0) return { reply: { rejection: apiErrors.tooManyRequests(waitMs, kind) }, userId }
      throttles[kind].add(userId)
    }
    const input = await readInput(request, route, params)
    if ('rejection' in input) return { reply: input, userId }
    if (route.confirms === true) {
      const confirmed = await parts.accounts.confirm(viewerOf(caller), (input.body as ConfirmBody).password)
      if (confirmed !== true) return { reply: { rejection: apiErrors.ofAccount(confirmed) }, userId }
    }
    // The table gives each route's handler what the route's schemas let through.
    const handle = handlers[name] as Handler<RouteName>
    const work = async () => handle({ ...input, caller } as Parameters<typeof handle>[0])
    const reply = userId !== undefined && isMetricsRead(name) ? await metricsLimiter.run(userId, work) : await work()
    return { reply: reply === 'full' ? { rejection: apiErrors.tooManyRequests(1_000, 'reads') } : reply, userId }
  }

  const run = async (
    name: RouteName | 'other',
    { request, env }: { request: Request; env: ControlEnv },
    work: (host: PublicHost) => Promise<Outcome>,
  ): Promise<Response> => {
    const { requestId = randomUUID() } = env
    const startedAt = monotonicNow()
    let outcome: Outcome
    let strictTransportSecurity: string | undefined
    try {
      const { publicUrl, controlUrl = publicUrl } = parts.deployment()
      const host = publicHost(controlUrl, request.headers.get('host'))
      if (host !== undefined) strictTransportSecurity = strictTransport(controlUrl)
      outcome =
        host === undefined
          ? { reply: { rejection: apiErrors.misdirected(new URL(controlUrl).origin) } }
          : await work(host)
    } catch (error) {
      const rejection = isStorageError(error) ? apiErrors.unavailable() : apiErrors.internal()
      outcome = { reply: { rejection } }
      // A message may hold what was sent; a class and a place in the code do not.
      faults.log({ event: 'controlFault', requestId, route: name, error: faultOf(error), count: 1 })
    }
    const { reply, userId } = outcome
    const response = toResponse(reply, {
      requestId,
      now: now(),
      strictTransportSecurity,
      ...(name === 'other' ? {} : { route: routeOf(name) }),
    })
    tell({
      event: 'control',
      requestId,
      route: name,
      status: response.status,
      ...('rejection' in reply ? { code: reply.rejection.code } : {}),
      ...(userId === undefined ? {} : { userId }),
      durationMs: Math.round((monotonicNow() - startedAt) * 1_000) / 1_000,
    })
    return response
  }

  const app = new Hono<{ Bindings: ControlEnv }>()
  const methods = new Map<string, string[]>()
  for (const name of routeNames) {
    const [method = '', path = ''] = name.split(' ')
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1')
    methods.set(pattern, [...(methods.get(pattern) ?? []), method])
    app.on(method, pattern, ({ req, env }) =>
      run(name, { request: req.raw, env }, (host) => answer(name, req.raw, { ip: env.ip, host, params: req.param() })),
    )
  }
  const reject = ({ req, env }: { req: { raw: Request }; env: ControlEnv }, rejection: ApiError) =>
    run('other', { request: req.raw, env }, async () => ({ reply: { rejection } }))
  for (const [pattern, allowed] of methods)
    app.all(pattern, (context) => reject(context, apiErrors.methodNotAllowed(allowed.join(', '))))
  app.notFound((context) => reject(context, apiErrors.notFound()))

  return { fetch: async (request, env) => app.fetch(request, env) }
}

/** What may be told of a failure. */
const faultOf = (error: unknown): string => {
  if (isStorageError(error)) return error.message
  if (!(error instanceof Error)) return 'something that is no Error was thrown'
  const place = /\n\s+at (.*)/.exec(error.stack ?? '')?.[1] ?? 'somewhere'
  return `${error.name} at ${place}`
}
