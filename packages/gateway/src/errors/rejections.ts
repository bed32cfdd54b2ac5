import type { Network } from '../lib/network.ts'
import type { Rejection, RejectionReason } from './rejection.ts'

const shapes = 'POST /{network}/v2/{app key} or POST /{network}/{API key}'

const unauthorized = -32016
const forbidden = -32002
const invalidRequest = -32600
const internal = -32603
const limitExceeded = -32005

/** Truncates a method name for a message, because it may be as long as the body. */
const truncate = (method: string): string => (method.length > 80 ? `${method.slice(0, 80)}…` : method)

const bySettings = 'rejected due to app settings: '

const rejectBySettings = (what: string, reason: RejectionReason): Rejection => ({
  status: 403,
  code: forbidden,
  message: `${bySettings}${what}`,
  reason,
})

/** Returns the rejection of an allow list as one of the token that has the list, so that nobody searches the app's settings for it. */
export const toTokenRejection = (rejection: Rejection | undefined): Rejection | undefined =>
  rejection && {
    ...rejection,
    message: rejection.message.replace(bySettings, 'rejected due to the claims of the JWT: '),
  }

/** A call that was not granted. */
interface UngrantedCall {
  /** Its method. */
  readonly label: string
  /** How many requests it counts as. */
  readonly weight: number
}

/** Explains why a call is rejected although something is left: it counts as more than that. */
const describeWeight = (remaining: number | null = null, call?: UngrantedCall): string =>
  remaining === null || remaining <= 0 || call === undefined || call.weight <= remaining
    ? ''
    : ` (${call.label} counts as ${call.weight} requests, ${remaining} left)`

/** An exhausted quota. */
interface UsedUpQuota {
  readonly call?: UngrantedCall | undefined
  readonly limit: number | null
  readonly remaining: number | null
  readonly resetAtMs: number
  readonly rejectedBy?: 'day' | 'month' | undefined
}

/** Uses a date, because ethers 6 reads a number as milliseconds. Rounded up to the second. */
const toRetryAfter = (atMs: number): readonly string[] => [
  'Retry-After',
  new Date(Math.ceil(atMs / 1000) * 1000).toUTCString(),
]

/** Most networks that a message lists. */
const maxListed = 10

const listNetworks = (networks: readonly Network[]): string =>
  networks.length === 0
    ? 'none'
    : networks.slice(0, maxListed).join(', ') + (networks.length > maxListed ? ' and others' : '')

/**
 * All rejections of the gateway: HTTP status, JSON-RPC code, message and reason.
 * Statuses and codes are chosen so that common clients show the right message: none of them retries a 401 or 403, and -32600 is only used for
 * invalid requests, because clients replace its message with their own.
 */
export const rejections = {
  notFound: (): Rejection => ({
    // Not -32600: clients would report an invalid request, although the URL is wrong.
    status: 404,
    code: -32001,
    message: `Not found: use ${shapes}`,
    reason: 'not_found',
  }),
  unknownNetwork: (network: Network, nearest: Network | undefined): Rejection => ({
    status: 404,
    code: -32001,
    message: `This service has no network ${network}: ${nearest === undefined ? '' : `did you mean ${nearest}? `}GET /api/networks lists those that it has`,
    reason: 'not_found',
  }),
  httpMethod: (): Rejection => ({
    status: 405,
    code: invalidRequest,
    message: 'Method not allowed: use POST',
    reason: 'http_method',
    headers: ['Allow', 'POST, OPTIONS'],
  }),
  contentType: (): Rejection => ({
    status: 415,
    code: invalidRequest,
    message: 'Unsupported Media Type: use application/json',
    reason: 'content_type',
  }),
  expectationFailed: (): Rejection => ({
    status: 417,
    code: invalidRequest,
    message: 'Expectation failed: only 100-continue is supported',
    reason: 'expectation_failed',
    close: true,
  }),
  badHttp: (): Rejection => ({
    status: 400,
    code: invalidRequest,
    message: 'Bad Request: not a well-formed HTTP request',
    reason: 'bad_http',
    close: true,
  }),
  badHandshake: (): Rejection => ({
    status: 400,
    code: invalidRequest,
    message:
      'Bad Request: a WebSocket needs Sec-WebSocket-Version: 13, a Sec-WebSocket-Key of 16 bytes in base64, and no subprotocol twice',
    reason: 'bad_http',
    close: true,
  }),
  headersTooLarge: (): Rejection => ({
    status: 431,
    code: invalidRequest,
    message: 'Request headers too large',
    reason: 'headers_too_large',
    close: true,
  }),
  requestTimeout: (): Rejection => ({
    status: 408,
    code: invalidRequest,
    message: 'The request did not arrive in time',
    reason: 'request_timeout',
    close: true,
  }),
  bodyTooLarge: (maxBodyBytes: number): Rejection => ({
    status: 413,
    code: invalidRequest,
    message: 'Request body too large',
    reason: 'body_too_large',
    data: { maxBodyBytes },
    close: true,
  }),
  keyUnknown: (): Rejection => ({ status: 401, code: unauthorized, message: 'Invalid API key', reason: 'key_unknown' }),
  /** For an IP that sent too many unknown keys. It has the code of an unknown key, because that is the problem. */
  keyUnknownLimited: (wait: { retryAfterMs: number; nowMs: number }): Rejection => ({
    status: 429,
    code: unauthorized,
    message: 'Invalid API key; too many invalid keys from this IP',
    reason: 'key_unknown_limited',
    data: { retryAfterMs: wait.retryAfterMs },
    headers: toRetryAfter(wait.nowMs + wait.retryAfterMs),
  }),
  keyRevoked: (): Rejection => ({
    status: 401,
    code: unauthorized,
    message: 'API key has been revoked',
    reason: 'key_revoked',
  }),
  keyExpired: (): Rejection => ({
    status: 401,
    code: unauthorized,
    message: 'API key has expired',
    reason: 'key_expired',
  }),
  keyDisabled: (): Rejection => ({
    status: 401,
    code: unauthorized,
    message: 'API key is not active',
    reason: 'key_disabled',
  }),
  keyWrongPath: (kind: 'app' | 'apiKey', network: Network): Rejection => ({
    status: 401,
    code: unauthorized,
    message:
      kind === 'app'
        ? `This is an app's key: use POST /${network}/v2/{key}`
        : `This is an API key: use POST /${network}/{key}`,
    reason: 'key_wrong_path',
    data: { path: kind === 'app' ? `/${network}/v2/{key}` : `/${network}/{key}` },
  }),
  keyStoreUnavailable: (): Rejection => ({
    status: 503,
    code: internal,
    message: 'API keys cannot be checked now',
    reason: 'key_store_unavailable',
  }),
  /** Has the reason of an unavailable key store, because limits and keys are in the same database. */
  limitsUnavailable: (): Rejection => ({
    status: 503,
    code: internal,
    message: 'Limits of this API key cannot be checked now',
    reason: 'key_store_unavailable',
  }),
  wrongNetwork: (network: Network, kind: 'app' | 'apiKey', keyNetworks: readonly Network[]): Rejection => ({
    status: 403,
    code: forbidden,
    message: `API key is not enabled for ${network}: it is for ${listNetworks(keyNetworks)}. ${kind === 'app' ? 'Enable the network in the dashboard, under Networks of the app' : 'An API key has one network: create another in the dashboard, or use an app'}`,
    reason: 'wrong_network',
    data: { keyNetworks: keyNetworks.slice(0, maxListed) },
  }),
  serviceOff: (): Rejection => rejectBySettings('the service Node API is off', 'service_off'),
  ipNotAllowed: (): Rejection => rejectBySettings('IP not allowed', 'ip_not_allowed'),
  originNotAllowed: (): Rejection => rejectBySettings('origin not allowed', 'origin_not_allowed'),
  userAgentNotAllowed: (): Rejection => rejectBySettings('user agent not allowed', 'user_agent_not_allowed'),
  methodNotAllowed: (method: string): Rejection =>
    rejectBySettings(`method ${truncate(method)} not allowed`, 'method_not_allowed'),
  addressNotAllowed: (address: string): Rejection =>
    rejectBySettings(`address ${truncate(address)} not allowed`, 'address_not_allowed'),
  /** For a call that may reach addresses which cannot be compared with the list. */
  notAllowedWithAddresses: (what: string): Rejection =>
    rejectBySettings(`${what} not allowed with an address list`, 'address_not_allowed'),
  /** For all keys, if the operator does not allow custom tracers. */
  tracerNotAllowed: (what: string): Rejection => ({
    status: 403,
    code: forbidden,
    message: `rejected due to service settings: ${what} not allowed. Use a built-in tracer, such as callTracer`,
    reason: 'tracer_not_allowed',
  }),
  jwtInvalid: (check: string, message: string): Rejection => ({
    status: 401,
    code: unauthorized,
    message: `invalid JWT: ${message}`,
    reason: 'jwt_invalid',
    data: { check },
    // RFC 6750 section 3.1: without credentials, the header must not contain an error code.
    headers: ['WWW-Authenticate', check === 'missing' ? 'Bearer' : 'Bearer error="invalid_token"'],
  }),
  /** @param rate.nowMs - In milliseconds since 1970. */
  rateLimited: (rate: {
    perSecond: number
    retryAfterMs: number
    currentPerSecond: number
    remaining?: number
    nowMs: number
    call?: UngrantedCall | undefined
  }): Rejection => ({
    status: 429,
    code: limitExceeded,
    message: `Request rate exceeded: ${rate.perSecond} requests per second${describeWeight(rate.remaining, rate.call)}`,
    reason: 'rate_limited',
    data: {
      limit: rate.perSecond,
      window: 'second',
      retryAfterMs: rate.retryAfterMs,
      backoff_seconds: Math.ceil(rate.retryAfterMs / 1000),
      allowed_rps: rate.perSecond,
      current_rps: rate.currentPerSecond,
    },
    headers: toRetryAfter(rate.nowMs + rate.retryAfterMs),
  }),
  /** @param status - 403 by default, because ethers retries a 429 for minutes although it lasts until midnight. 429 if the operator chose it. */
  quotaExceeded: (grant: UsedUpQuota, status: 403 | 429): Rejection => {
    const { rejectedBy = 'day', resetAtMs } = grant
    const limit = grant.limit ?? 0
    const resetAt = new Date(resetAtMs).toISOString().replace('.000Z', 'Z')
    return {
      status,
      code: limitExceeded,
      message: `${rejectedBy === 'day' ? 'Daily' : 'Monthly'} request limit of ${limit} reached${describeWeight(grant.remaining, grant.call)}; resets at ${resetAt}`,
      reason: 'quota_exceeded',
      data: { limit, used: limit - (grant.remaining ?? 0), resetAt, window: rejectedBy },
      ...(status === 429 ? { headers: toRetryAfter(resetAtMs) } : {}),
    }
  },
  parseError: (): Rejection => ({ status: 400, code: -32700, message: 'Parse error', reason: 'parse_error' }),
  tooDeep: (maxJsonDepth: number): Rejection => ({
    status: 400,
    code: -32700,
    message: `Parse error: arrays and objects are nested more than ${maxJsonDepth} levels deep`,
    reason: 'parse_error',
    data: { maxJsonDepth },
  }),
  /** @param problem - More about what is wrong with the request. */
  invalidRequest: (problem?: string): Rejection => ({
    status: 400,
    code: invalidRequest,
    message: problem === undefined ? 'Invalid Request' : `Invalid Request: ${problem}`,
    reason: 'invalid_request',
  }),
  emptyBatch: (): Rejection => ({
    status: 400,
    code: invalidRequest,
    message: 'Invalid Request: empty batch',
    reason: 'batch_empty',
  }),
  batchTooLarge: (count: number, maxBatchCalls: number): Rejection => ({
    status: 413,
    code: invalidRequest,
    message: `Batch too large: ${count} > ${maxBatchCalls}`,
    reason: 'batch_too_large',
    data: { maxBatchCalls },
  }),
  invalidParams: (): Rejection => ({ status: 200, code: -32602, message: 'Invalid params', reason: 'invalid_params' }),
  methodNotFound: (method: string, nearest?: string): Rejection => ({
    status: 200,
    code: -32601,
    message: `the method ${truncate(method)} does not exist/is not available${nearest === undefined ? '' : `: did you mean ${nearest}?`}`,
    reason: 'method_not_found',
  }),
  /** For a call that works only over a WebSocket. */
  useWebSocket: (method: string): Rejection => ({
    status: 200,
    code: -32601,
    message: `${method} needs a WebSocket: connect to the same URL with wss:// in place of https://, or ws:// in place of http://`,
    reason: 'method_not_found',
  }),
  tooManyConnections: (of: 'key' | 'user' | 'IP', max: number): Rejection => ({
    status: 429,
    code: limitExceeded,
    message: `Too many WebSocket connections: at most ${max} for each ${of}. Close some, or use one for several subscriptions`,
    reason: 'too_many_connections',
    data: { maxConnections: max },
  }),
  /** @param available - How many independent nodes are available, or have responded. */
  tooFewNodes: (nodes: number, available: number): Rejection => ({
    status: 503,
    code: internal,
    message: `The result is not confirmed: ${nodes} independent nodes must agree, and ${available} ${available === 1 ? 'is' : 'are'} available`,
    reason: 'no_upstream',
    data: { nodes, available },
  }),
  /** @param block - The block that they were asked about, if it was pinned. */
  nodesDisagree: (nodes: number, block: number | undefined): Rejection => ({
    status: 502,
    code: internal,
    message: `The nodes disagree on the result: ${nodes} must agree`,
    reason: 'nodes_disagree',
    data: block === undefined ? { nodes } : { nodes, block },
  }),
  noUpstream: (network: Network): Rejection => ({
    status: 503,
    code: internal,
    message: `No healthy upstream for ${network}`,
    reason: 'no_upstream',
  }),
  upstreamBusy: (): Rejection => ({
    status: 503,
    code: internal,
    message: 'Upstream is busy',
    reason: 'upstream_busy',
  }),
  upstreamTimeout: (timeoutMs: number): Rejection => ({
    status: 504,
    code: internal,
    message: 'Upstream timed out',
    reason: 'upstream_timeout',
    data: { timeoutMs },
  }),
  upstreamBad: (): Rejection => ({
    status: 502,
    code: internal,
    message: 'Bad upstream response',
    reason: 'upstream_bad',
  }),
  responseTooLarge: (maxResponseBytes: number): Rejection => ({
    status: 502,
    code: internal,
    message: 'Response too large',
    reason: 'response_too_large',
    data: { maxResponseBytes },
  }),
  chainReorganized: (): Rejection => ({
    status: 502,
    code: internal,
    message: 'The chain was reorganized while its logs were read: send the call again',
    reason: 'chain_reorganized',
  }),
  draining: (): Rejection => ({
    status: 503,
    code: internal,
    message: 'Server is shutting down',
    reason: 'draining',
    close: true,
  }),
} as const
