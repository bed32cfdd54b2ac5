/** Why the gateway itself rejected a request. Stable: programs may branch on it. */
export type RejectionReason =
  | 'not_found'
  | 'http_method'
  | 'content_type'
  | 'expectation_failed'
  | 'bad_http'
  | 'headers_too_large'
  | 'request_timeout'
  | 'body_too_large'
  | 'key_unknown'
  | 'key_unknown_limited'
  | 'key_revoked'
  | 'key_expired'
  | 'key_disabled'
  | 'key_wrong_path'
  | 'key_store_unavailable'
  | 'wrong_network'
  | 'service_off'
  | 'ip_not_allowed'
  | 'origin_not_allowed'
  | 'user_agent_not_allowed'
  | 'method_not_allowed'
  | 'address_not_allowed'
  | 'tracer_not_allowed'
  | 'jwt_invalid'
  | 'rate_limited'
  | 'quota_exceeded'
  | 'parse_error'
  | 'invalid_request'
  | 'batch_empty'
  | 'batch_too_large'
  | 'invalid_params'
  | 'method_not_found'
  | 'too_many_connections'
  | 'no_upstream'
  | 'upstream_busy'
  | 'upstream_timeout'
  | 'upstream_bad'
  | 'response_too_large'
  | 'chain_reorganized'
  | 'nodes_disagree'
  | 'draining'

/** A rejection, before it is formatted for a request. */
export interface Rejection {
  /** The HTTP status if the whole request is rejected or has a single call. */
  readonly status: number
  readonly code: number
  readonly message: string
  readonly reason: RejectionReason
  /** More members of `error.data`. Never contains a key or the URL of an upstream. */
  readonly data?: Readonly<Record<string, string | number | readonly string[] | null>>
  readonly headers?: readonly string[]
  /** The connection must be closed. */
  readonly close?: boolean
}

/** Whether a result is a rejection. */
export const isRejection = (result: object): result is Rejection => 'reason' in result

/**
 * Formats the `error` member of a rejection.
 * @param requestId - The id in the log and in `X-Request-Id`, so that callers can refer to the request.
 */
export const formatError = (rejection: Rejection, requestId: string): string => {
  const data = JSON.stringify({ reason: rejection.reason, requestId, ...rejection.data })
  return `"error":{"code":${rejection.code},"message":${JSON.stringify(rejection.message)},"data":${data}}`
}

/**
 * Formats a rejection as a JSON-RPC response.
 * @param id - The source text of the id; `null` if it could not be parsed.
 * @param requestId - As for `formatError`.
 * @see JSON-RPC 2.0 section 5.1
 */
export const formatRejection = (rejection: Rejection, id: string, requestId: string): string =>
  `{"jsonrpc":"2.0","id":${id},${formatError(rejection, requestId)}}`
