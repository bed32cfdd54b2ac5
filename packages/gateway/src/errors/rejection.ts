/** Why the gateway, not a node, rejected or failed. Stable: a program may branch on it. */
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
  | 'no_upstream'
  | 'upstream_busy'
  | 'upstream_timeout'
  | 'upstream_bad'
  | 'response_too_large'
  | 'draining'

/** One rejection, before it is written for a request. */
export interface Rejection {
  /** The HTTP status where the whole request is rejected, or the call was a single one. */
  readonly status: number
  readonly code: number
  readonly message: string
  readonly reason: RejectionReason
  /** More of `error.data`. Never a key, never an upstream's address. */
  readonly data?: Readonly<Record<string, string | number | null>>
  readonly headers?: readonly string[]
  /** The connection cannot be used any further. */
  readonly close?: boolean
}
