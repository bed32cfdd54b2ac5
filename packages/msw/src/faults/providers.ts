import type { FailureKind } from '@keyrail/core'
import { describeValue, invalidInput } from '../invalidInput.ts'

/** The provider whose limits and error responses a mock node imitates. `node` is a bare node, without a provider in front. */
export type ProviderName = 'keyrail' | 'alchemy' | 'infura' | 'quicknode' | 'ankr' | 'drpc' | 'node'

/** An error response of a provider. */
export interface ProviderError {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** A plain text body; used instead of `error`. */
  readonly text?: string
  /** A JSON-RPC error. `$METHOD` in the message is replaced by the method of the call. */
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
  /** Whether the error rejects the whole request, with id null. Otherwise a batch gets status 200 and only the failing calls get the error. */
  readonly rejectsWholeRequest?: boolean
}

/** How a provider behaves. */
export interface ProviderBehavior {
  /** Error responses by failure kind, the most common one first. */
  readonly errors: Readonly<Partial<Record<FailureKind, readonly ProviderError[]>>>
  /** The maximum number of calls in a batch. */
  readonly maxBatch?: number
  /** The maximum block range of `eth_getLogs`. */
  readonly maxLogBlocks?: number
  /** The maximum number of logs in a response. */
  readonly maxLogs?: number
  /** Returns the responses to a batch in reverse order, which JSON-RPC allows. */
  readonly reversesBatches?: boolean
}

const rpcError = (status: number, code: number, message: string, data?: unknown): ProviderError => ({
  status,
  error: { code, message, ...(data !== undefined && { data }) },
})
const wholeRequest = (error: ProviderError): ProviderError => ({ ...error, rejectsWholeRequest: true })
const text = (status: number, body: string): ProviderError => ({ status, text: body, rejectsWholeRequest: true })
const errorData = (reason: string, more: object = {}): object => ({ reason, requestId: 'req-0001', ...more })
/** An error with which Keyrail's gateway rejects a whole request. */
export const serviceError = (status: number, code: number, message: string, reason: string): ProviderError =>
  wholeRequest(rpcError(status, code, message, errorData(reason)))

const missingMethod = 'the method $METHOD does not exist/is not available'
/** The HTML page of a proxy that cannot reach its server. */
export const badGateway =
  '<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center></body></html>'

// A test compares these wordings with the cases in packages/vectors.
const keyrail: ProviderBehavior = {
  maxBatch: 1_000,
  errors: {
    auth: [
      serviceError(401, -32_016, 'Invalid API key', 'key_unknown'),
      serviceError(401, -32_016, 'invalid JWT: expired', 'jwt_invalid'),
    ],
    forbidden: [serviceError(403, -32_002, 'rejected due to app settings: origin not allowed', 'origin_not_allowed')],
    throttled: [
      rpcError(
        429,
        -32_005,
        'Request rate exceeded: 25 requests per second',
        errorData('rate_limited', { retryAfterMs: 40 }),
      ),
    ],
    quota: [
      rpcError(
        403,
        -32_005,
        'Daily request limit of 25000 reached; resets at 2026-11-22T00:00:00Z',
        errorData('quota_exceeded', { window: 'day' }),
      ),
      rpcError(
        429,
        -32_005,
        'Daily request limit of 25000 reached; resets at 2026-11-22T00:00:00Z',
        errorData('quota_exceeded', { window: 'day' }),
      ),
    ],
    range: [rpcError(502, -32_603, 'Response too large', errorData('response_too_large', { maxResponseBytes: 1_000 }))],
    batchTooLarge: [serviceError(413, -32_600, 'Batch too large: 1001 > 1000', 'batch_too_large')],
    methodUnavailable: [rpcError(200, -32_601, missingMethod, errorData('method_not_found'))],
    wrongNetwork: [
      wholeRequest(
        rpcError(
          403,
          -32_002,
          'API key is not enabled for mainnet',
          errorData('wrong_network', { keyNetwork: 'testnet' }),
        ),
      ),
    ],
    invalidRequest: [
      serviceError(400, -32_600, 'Invalid Request', 'invalid_request'),
      serviceError(405, -32_600, 'Method not allowed: use POST', 'http_method'),
      serviceError(415, -32_600, 'Unsupported Media Type: use application/json', 'content_type'),
    ],
    unavailable: [
      rpcError(503, -32_603, 'No healthy upstream for testnet', errorData('no_upstream')),
      text(502, badGateway),
    ],
    timeout: [rpcError(504, -32_603, 'Upstream timed out', errorData('upstream_timeout', { timeoutMs: 30_000 }))],
  },
}

const alchemy: ProviderBehavior = {
  maxBatch: 1_000,
  maxLogs: 10_000,
  reversesBatches: true,
  errors: {
    auth: [
      wholeRequest(rpcError(401, -32_600, 'Must be authenticated!')),
      text(403, 'App is inactive, please check your account'),
    ],
    forbidden: [rpcError(403, -32_600, 'Origin not on whitelist.')],
    throttled: [
      rpcError(
        429,
        429,
        'Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message.',
      ),
    ],
    quota: [
      rpcError(
        429,
        429,
        'Monthly capacity limit exceeded. Visit the dashboard billing page to upgrade your scaling policy for continued service.',
      ),
      rpcError(403, -32_000, 'Monthly capacity limit exceeded.'),
    ],
    range: [
      rpcError(
        200,
        -32_602,
        'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x0, 0x1f4]',
      ),
      rpcError(
        400,
        -32_600,
        'You can make eth_getLogs requests with up to a 500 block range. Based on your parameters, this block range should work: [0x1, 0x1f4]',
      ),
    ],
    batchTooLarge: [wholeRequest(rpcError(400, -32_600, 'Batch size too large: at most 1000 requests are allowed'))],
    methodUnavailable: [
      rpcError(400, -32_600, 'Unsupported method: $METHOD. See available methods in the documentation.'),
    ],
    wrongNetwork: [
      rpcError(403, -32_600, 'MATIC_MAINNET is not enabled for this app. Visit this page to enable the network'),
    ],
    invalidRequest: [rpcError(400, -32_600, 'JSON is not a valid request object.')],
    unavailable: [rpcError(503, -32_000, 'Unable to complete request at this time.')],
  },
}

const infura: ProviderBehavior = {
  maxLogs: 10_000,
  errors: {
    auth: [text(401, 'invalid project id\n'), wholeRequest(rpcError(401, -32_002, 'invalid JWT'))],
    forbidden: [
      rpcError(403, -32_002, 'rejected due to project ID settings'),
      rpcError(401, -32_002, 'rejected due to project ID settings'),
    ],
    throttled: [
      rpcError(429, 429, 'Too Many Requests', { code: 429, event: -33_200, message: 'Too Many Requests' }),
      rpcError(200, -32_005, 'project ID request rate exceeded', {
        see: 'https://infura.io/dashboard',
        rate: { allowed_rps: 10, current_rps: 12.5, backoff_seconds: 30 },
      }),
    ],
    quota: [
      rpcError(402, 402, 'Payment Required', { event: -33_000 }),
      rpcError(429, 429, 'daily request limit for this key exceeded', { event: -33_400 }),
      rpcError(200, -32_005, 'daily request count exceeded, request rate limited', {
        see: 'https://infura.io/dashboard',
      }),
    ],
    range: [
      rpcError(200, -32_005, 'query returned more than 10000 results. Try with this block range [0x1, 0x64].', {
        from: '0x1',
        limit: 10_000,
        to: '0x64',
      }),
    ],
    methodUnavailable: [
      rpcError(200, -32_601, 'The method $METHOD does not exist/is not available'),
      rpcError(200, -32_004, 'Method not supported'),
    ],
    unavailable: [text(502, badGateway)],
  },
}

const quicknode: ProviderBehavior = {
  maxLogBlocks: 10_000,
  errors: {
    auth: [text(401, 'Unauthorized')],
    forbidden: [text(401, 'IP address not allowed')],
    throttled: [
      rpcError(
        429,
        -32_007,
        '50/second request limit reached - reduce calls per second or upgrade your account at quicknode.com',
      ),
      rpcError(200, -32_012, 'credits limited to 6000/sec'),
    ],
    quota: [rpcError(403, -32_000, 'Endpoint is disabled due to past due payment')],
    range: [rpcError(413, -32_614, 'eth_getLogs is limited to a 10,000 range')],
    batchTooLarge: [text(413, '<html><head><title>413 Request Entity Too Large</title></head></html>')],
    methodUnavailable: [
      rpcError(200, -32_612, 'custom trace is not enabled'),
      rpcError(200, -32_613, '$METHOD is restricted'),
    ],
    invalidRequest: [text(404, '404 page not found')],
  },
}

const ankr: ProviderBehavior = {
  maxLogBlocks: 10_000,
  errors: {
    auth: [
      text(401, 'message: API key not found, trace_id: 0000'),
      text(404, 'message: API key not found, trace_id: 0000'),
    ],
    throttled: [
      rpcError(200, -32_090, 'rate limit exhausted'),
      rpcError(429, -32_090, 'Too many requests, reason: call rate limit exhausted, retry in 10s'),
    ],
    quota: [rpcError(403, -32_000, 'Your account is suspended: negative balance')],
    range: [
      rpcError(200, -32_000, 'maximum [from, to] blocks distance: 10000'),
      rpcError(200, -32_062, 'Block range is too large'),
    ],
    batchTooLarge: [wholeRequest(rpcError(200, -32_600, 'Too many [eth_getLogs] methods in the batch'))],
    methodUnavailable: [rpcError(404, -32_601, missingMethod)],
    wrongNetwork: [rpcError(403, -32_052, 'API key is not allowed to access blockchain')],
    unavailable: [rpcError(200, -32_055, 'No nodes available, try again later')],
  },
}

const drpcTier = 'to use this feature register paid account at drpc.org'
const drpc: ProviderBehavior = {
  maxBatch: 3,
  maxLogBlocks: 10_000,
  errors: {
    auth: [rpcError(200, 4, 'token is invalid')],
    forbidden: [rpcError(200, 35, 'method is not available on freetier, please upgrade to paid tier')],
    throttled: [rpcError(429, 15, 'Too many request, try again later: compute units per minute exceeded')],
    quota: [
      {
        status: 402,
        text: '{"message":"You have reached the free tier limits","code":402}',
        rejectsWholeRequest: true,
      },
      { status: 429, text: '{"message":"You have reached the free tier limit","code":429}', rejectsWholeRequest: true },
    ],
    range: [
      rpcError(200, 35, 'ranges over 10000 blocks are not supported on freetier'),
      rpcError(400, 35, 'ranges over 10000 blocks are not supported on freetier'),
    ],
    batchTooLarge: [rpcError(200, 31, `Batch of more than 3 requests are not allowed on free tier, ${drpcTier}`)],
    unavailable: [rpcError(500, 19, 'Temporary internal error. Please retry, trace-id: 0000')],
    timeout: [rpcError(408, 30, 'Request timeout on the free tier, please upgrade your tier to the paid one')],
  },
}

/** Errors of nodes, which providers pass through, and of proxies. */
const node: ProviderBehavior = {
  errors: {
    auth: [text(401, 'Unauthorized')],
    forbidden: [text(403, '')],
    throttled: [text(429, 'Too Many Requests')],
    quota: [text(402, 'Payment Required')],
    range: [rpcError(200, -32_000, 'exceed maximum block range: 5000')],
    batchTooLarge: [wholeRequest(rpcError(200, -32_600, 'batch too large'))],
    methodUnavailable: [rpcError(200, -32_601, missingMethod)],
    wrongNetwork: [text(404, 'unknown network')],
    lagging: [rpcError(200, -32_000, 'header not found')],
    missingData: [
      rpcError(
        200,
        -32_000,
        'missing trie node 1111111111111111111111111111111111111111111111111111111111111111 (path )',
      ),
    ],
    revert: [rpcError(200, 3, 'execution reverted', '0x')],
    txKnown: [rpcError(200, -32_000, 'already known')],
    txRejected: [rpcError(200, -32_000, 'nonce too low: next nonce 5, tx nonce 4')],
    invalidRequest: [
      rpcError(
        200,
        -32_602,
        'invalid argument 0: json: cannot unmarshal hex string without 0x prefix into Go struct field TransactionArgs.to of type common.Address',
      ),
      text(415, 'invalid content type, only application/json is supported'),
    ],
    unavailable: [text(503, 'node is not ready'), text(502, badGateway)],
    timeout: [rpcError(200, -32_002, 'request timed out')],
    unknown: [rpcError(200, -32_000, 'something new')],
  },
}

/** All providers by name. */
export const providers: Readonly<Record<ProviderName, ProviderBehavior>> = {
  keyrail,
  alchemy,
  infura,
  quicknode,
  ankr,
  drpc,
  node,
}

/** @throws {KeyrailError} kind `invalidRequest` if there is no such provider. */
export function checkProvider(provider: ProviderName): void {
  if (!Object.hasOwn(providers, provider))
    throw invalidInput(`Unknown provider ${describeValue(provider)}. Use one of ${Object.keys(providers).join(', ')}`)
}

/**
 * Finds the error response of a provider for a failure kind. Falls back to the response of a bare node.
 *
 * @param status - The HTTP status to use, if the provider has several responses for the kind.
 */
export function providerError(provider: ProviderName, kind: FailureKind, status?: number): ProviderError | undefined {
  const known = providers[provider].errors[kind] ?? node.errors[kind] ?? []
  return (
    known.find((error) => status === undefined || error.status === status) ??
    (known[0] && { ...known[0], status: status ?? known[0].status })
  )
}
