import type { Network } from '../lib/network.ts'
import type { Rejection, RejectionReason } from './rejection.ts'

const shapes = 'POST /{testnet|mainnet}/v2/{app key} or POST /{testnet|mainnet}/{API key}'

const unauthorized = -32016
const forbidden = -32002
const invalidRequest = -32600
const internal = -32603
const limitExceeded = -32005

/** A method's name as it may stand in a message: cut, because a caller can make it as long as the body. */
const shown = (method: string): string => (method.length > 80 ? `${method.slice(0, 80)}…` : method)

const bySettings = (what: string, reason: RejectionReason): Rejection => ({
  status: 403,
  code: forbidden,
  message: `rejected due to app settings: ${what}`,
  reason,
})

/** A quota that is used up. */
interface UsedUpQuota {
  readonly limit: number | null
  readonly remaining: number | null
  readonly resetAtMs: number
  readonly rejectedBy?: 'day' | 'month' | undefined
}

/** A date, because ethers 6 takes a number for milliseconds; never before the time that it names. */
const retryAfter = (atMs: number): readonly string[] => [
  'Retry-After',
  new Date(Math.ceil(atMs / 1000) * 1000).toUTCString(),
]

/**
 * Every rejection the gateway knows, in one place: HTTP status, JSON-RPC code, message and reason.
 * Statuses and codes are chosen so that common clients show their user something true: 401 and 403 are not retried by any of them,
 * and -32600 is kept for what is no request, because clients replace its message by their own.
 */
export const rejections = {
  notFound: (): Rejection => ({
    // Not -32600: a client would say that the request is no request, where it is the address that is wrong.
    status: 404,
    code: -32001,
    message: `Not found: use ${shapes}`,
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
    message: 'Expectation failed: only 100-continue is known',
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
  /** For an IP from which too many keys came that nobody has. The code stays that of an unknown key: it is what is wrong. */
  keyUnknownLimited: (wait: { retryAfterMs: number; nowMs: number }): Rejection => ({
    status: 429,
    code: unauthorized,
    message: 'Invalid API key; too many of these from this IP',
    reason: 'key_unknown_limited',
    data: { retryAfterMs: wait.retryAfterMs },
    headers: retryAfter(wait.nowMs + wait.retryAfterMs),
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
  /** The database that limits are counted in is the one that keys are in. */
  limitsUnavailable: (): Rejection => ({
    status: 503,
    code: internal,
    message: 'Limits of this API key cannot be checked now',
    reason: 'key_store_unavailable',
  }),
  wrongNetwork: (network: Network, keyNetwork: string | null): Rejection => ({
    status: 403,
    code: forbidden,
    message: `API key is not enabled for ${network}`,
    reason: 'wrong_network',
    data: { keyNetwork },
  }),
  serviceOff: (): Rejection => bySettings('the service Node API is off', 'service_off'),
  ipNotAllowed: (): Rejection => bySettings('IP not allowed', 'ip_not_allowed'),
  originNotAllowed: (): Rejection => bySettings('origin not allowed', 'origin_not_allowed'),
  userAgentNotAllowed: (): Rejection => bySettings('user agent not allowed', 'user_agent_not_allowed'),
  methodNotAllowed: (method: string): Rejection =>
    bySettings(`method ${shown(method)} not allowed`, 'method_not_allowed'),
  addressNotAllowed: (address: string): Rejection =>
    bySettings(`address ${shown(address)} not allowed`, 'address_not_allowed'),
  /** What would reach addresses that cannot be held against the list. */
  notAllowedWithAddresses: (what: string): Rejection =>
    bySettings(`${what} not allowed with an address list`, 'address_not_allowed'),
  /** For every key, where the operator does not allow tracers of callers' own. */
  tracerNotAllowed: (what: string): Rejection => ({
    status: 403,
    code: forbidden,
    message: `rejected due to service settings: ${what} not allowed. Use a tracer that nodes have built in, such as callTracer`,
    reason: 'tracer_not_allowed',
  }),
  jwtInvalid: (check: string, message: string): Rejection => ({
    status: 401,
    code: unauthorized,
    message: `invalid JWT: ${message}`,
    reason: 'jwt_invalid',
    data: { check },
    // RFC 6750 section 3.1: where there were no credentials no error is named.
    headers: ['WWW-Authenticate', check === 'missing' ? 'Bearer' : 'Bearer error="invalid_token"'],
  }),
  /** @param rate.nowMs - Since 1970. */
  rateLimited: (rate: {
    perSecond: number
    retryAfterMs: number
    currentPerSecond: number
    nowMs: number
  }): Rejection => ({
    status: 429,
    code: limitExceeded,
    message: `Request rate exceeded: ${rate.perSecond} requests per second`,
    reason: 'rate_limited',
    data: {
      limit: rate.perSecond,
      window: 'second',
      retryAfterMs: rate.retryAfterMs,
      backoff_seconds: Math.ceil(rate.retryAfterMs / 1000),
      allowed_rps: rate.perSecond,
      current_rps: rate.currentPerSecond,
    },
    headers: retryAfter(rate.nowMs + rate.retryAfterMs),
  }),
  /** @param status - 403, because ethers waits for minutes on a 429 that lasts until midnight; or 429, where the operator chose it. */
  quotaExceeded: (grant: UsedUpQuota, status: 403 | 429): Rejection => {
    const { rejectedBy = 'day', resetAtMs } = grant
    const limit = grant.limit ?? 0
    const resetAt = new Date(resetAtMs).toISOString().replace('.000Z', 'Z')
    return {
      status,
      code: limitExceeded,
      message: `${rejectedBy === 'day' ? 'Daily' : 'Monthly'} request limit of ${limit} reached; resets at ${resetAt}`,
      reason: 'quota_exceeded',
      data: { limit, used: limit - (grant.remaining ?? 0), resetAt, window: rejectedBy },
      ...(status === 429 ? { headers: retryAfter(resetAtMs) } : {}),
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
  /** @param problem - What is wrong with the request, where there is more to say. */
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
  methodNotFound: (method: string): Rejection => ({
    status: 200,
    code: -32601,
    message: `the method ${shown(method)} does not exist/is not available`,
    reason: 'method_not_found',
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
  draining: (): Rejection => ({
    status: 503,
    code: internal,
    message: 'Server is shutting down',
    reason: 'draining',
    close: true,
  }),
} as const
