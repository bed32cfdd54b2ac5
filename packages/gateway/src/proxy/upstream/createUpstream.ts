import { Pool } from 'undici'
import { createErrorMask } from './createErrorMask.ts'
import type { ErrorMask } from './createErrorMask.ts'
import { createBackoff } from './health/createBackoff.ts'
import type { Backoff } from './health/createBackoff.ts'
import type { Budget } from './health/createBudget.ts'
import { postRequest } from './postRequest.ts'
import type { PostedRequests, UpstreamRequest } from './postRequest.ts'
import { getCredentials, getSecrets } from './upstreamSecrets.ts'
import type { UpstreamHeaders } from '../options/upstreamOptions.ts'

/** An HTTP client for one node. Its URL is private. */
export interface Upstream {
  /** Posts a body, and charges it to the budget. @returns A function that stops the request. */
  readonly post: (request: UpstreamRequest) => () => void
  /** Masks the parts of the URL that callers must not see, in an error object. */
  readonly maskError: ErrorMask
  /** How many requests of callers have not ended. */
  readonly inFlight: () => number
  /** Whether all its connections are in use, so that a request would wait. */
  readonly isFull: () => boolean
  /** Pauses the node while it says that it gets too many requests. */
  readonly backoff: Backoff
  /** How many units one of the gateway's own queries uses. */
  readonly getQueryUnits: (method: string) => number
  /** Whether the budget of the day has room for one of the gateway's own queries. */
  readonly hasRoomForQuery: (method: string) => boolean
  /** Gets that room. @returns Whether there is room; a promise, which never rejects, if the store has to be asked. */
  readonly drawForQuery: (method: string) => boolean | Promise<boolean>
  readonly close: () => Promise<void>
}

const maxConnections = 128
/** Probes have connections of their own, so a node is never unreachable only because many callers wait for it. */
const maxProbeConnections = 2
const connectTimeoutMs = 5_000
const keepAliveMs = 20_000

/**
 * Creates an upstream: a connection pool to one node. A request to it contains the caller's call and nothing else of the caller's request.
 * Redirects are not followed.
 * @param url - http or https. User and password become a Basic authorization.
 * @param options.headers - Sent with each request.
 * @param options.budget - @default none
 * @param options.backoff - @default a new one
 */
export const createUpstream = (
  url: URL,
  {
    headers: ownHeaders = {},
    budget: nodeBudget,
    backoff = createBackoff(),
  }: { headers?: UpstreamHeaders; budget?: Budget; backoff?: Backoff } = {},
): Upstream => {
  const createPool = (connections: number): Pool =>
    new Pool(url.origin, {
      connections,
      pipelining: 1,
      allowH2: false,
      // Callers of `post` have timeouts of their own.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: keepAliveMs,
      connect: { timeout: connectTimeoutMs },
    })
  const pool = createPool(maxConnections)
  const probePool = createPool(maxProbeConnections)
  const path = `${url.pathname}${url.search}`
  const headers: Record<string, string> = {
    ...Object.fromEntries(Object.entries(ownHeaders).map(([name, value]) => [name.toLowerCase(), value])),
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': 'identity',
  }
  const credentials = getCredentials(url)
  if (credentials !== undefined) headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`

  const probeHeaders = { ...headers, 'user-agent': 'keyrail-probe' }
  const posted: PostedRequests = { inFlight: 0, streams: 0 }

  const post: Upstream['post'] = (request) => {
    const { headers: more, probe = false } = request
    nodeBudget?.charge(request.calls ?? 1, request.units ?? 1)
    const own = probe ? probeHeaders : more === undefined ? headers : { ...headers, ...more }
    return postRequest(probe ? probePool : pool, { path, headers: own }, request, posted)
  }

  const close = async (): Promise<void> => {
    await Promise.all([pool.destroy(), probePool.destroy()])
  }
  const getQueryUnits = (method: string): number => nodeBudget?.getUnits([{ method }], 1) ?? 1
  return {
    post,
    maskError: createErrorMask(getSecrets(url, ownHeaders)),
    inFlight: () => posted.inFlight,
    isFull: () => posted.inFlight >= maxConnections,
    backoff,
    getQueryUnits,
    hasRoomForQuery: (method) => nodeBudget?.hasRoomToday(getQueryUnits(method)) ?? true,
    drawForQuery: (method) => nodeBudget?.drawToday(getQueryUnits(method)) ?? true,
    close,
  }
}
