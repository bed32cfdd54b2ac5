import type { FailureKind } from '@keyrail/core'
import { refused } from '../refused.ts'

/** Whose words a mock node uses when it refuses something, and whose limits it has. `node` is a node without a service in front. */
export type Personality = 'keyrail' | 'alchemy' | 'infura' | 'quicknode' | 'ankr' | 'drpc' | 'node'

/** An answer that refuses, as it goes over the wire. */
export interface DialectAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Plain text. */
  readonly text?: string
  /** Or an error object; `$METHOD` in its message stands for the call's method. */
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
  /** Whether it is said of the whole request, with the id null; else, in a batch, each call is refused by itself under status 200. */
  readonly whole?: boolean
}

/** What tells one provider from another. */
export interface Dialect {
  /** By kind; the first is the usual one. */
  readonly answers: Readonly<Partial<Record<FailureKind, readonly DialectAnswer[]>>>
  /** The most calls in a batch. */
  readonly maxBatch?: number
  /** The most blocks that `eth_getLogs` looks through. */
  readonly maxLogBlocks?: number
  /** The most logs that it gives. */
  readonly maxLogs?: number
  /** Answers the calls of a batch from the last to the first, which JSON-RPC allows. */
  readonly reversed?: boolean
}

const of = (status: number, code: number, message: string, data?: unknown): DialectAnswer => ({
  status,
  error: { code, message, ...(data !== undefined && { data }) },
})
const forAll = (answer: DialectAnswer): DialectAnswer => ({ ...answer, whole: true })
const text = (status: number, body: string): DialectAnswer => ({ status, text: body, whole: true })
const slug = (reason: string, more: object = {}): object => ({ reason, requestId: 'req-0001', ...more })
/** An error response of Keyrail's service to a whole request. */
export const service = (status: number, code: number, message: string, reason: string): DialectAnswer =>
  forAll(of(status, code, message, slug(reason)))

const missingMethod = 'the method $METHOD does not exist/is not available'
/** The page of a proxy that cannot reach its server. */
export const badGateway =
  '<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center></body></html>'

// Worded as the cases of the vectors are, which a test holds side by side.
const keyrail: Dialect = {
  maxBatch: 1_000,
  answers: {
    auth: [
      service(401, -32_016, 'Invalid API key', 'key_unknown'),
      service(401, -32_016, 'invalid JWT: expired', 'jwt_invalid'),
    ],
    forbidden: [service(403, -32_002, 'rejected due to app settings: origin not allowed', 'origin_not_allowed')],
    throttled: [
      of(429, -32_005, 'Request rate exceeded: 25 requests per second', slug('rate_limited', { retryAfterMs: 40 })),
    ],
    quota: [
      of(
        403,
        -32_005,
        'Daily request limit of 25000 reached; resets at 2026-11-22T00:00:00Z',
        slug('quota_exceeded', { window: 'day' }),
      ),
      of(
        429,
        -32_005,
        'Daily request limit of 25000 reached; resets at 2026-11-22T00:00:00Z',
        slug('quota_exceeded', { window: 'day' }),
      ),
    ],
    range: [of(502, -32_603, 'Response too large', slug('response_too_large', { maxAnswerBytes: 1_000 }))],
    batchTooLarge: [service(413, -32_600, 'Batch too large: 1001 > 1000', 'batch_too_large')],
    methodUnavailable: [of(200, -32_601, missingMethod, slug('method_not_found'))],
    wrongNetwork: [
      forAll(of(403, -32_002, 'API key is not enabled for mainnet', slug('wrong_network', { keyNetwork: 'testnet' }))),
    ],
    invalidRequest: [
      service(400, -32_600, 'Invalid Request', 'invalid_request'),
      service(405, -32_600, 'Method not allowed: use POST', 'http_method'),
      service(415, -32_600, 'Unsupported Media Type: use application/json', 'content_type'),
    ],
    unavailable: [of(503, -32_603, 'No healthy upstream for testnet', slug('no_upstream')), text(502, badGateway)],
    timeout: [of(504, -32_603, 'Upstream timed out', slug('upstream_timeout', { timeoutMs: 30_000 }))],
  },
}

const alchemy: Dialect = {
  maxBatch: 1_000,
  maxLogs: 10_000,
  reversed: true,
  answers: {
    auth: [forAll(of(401, -32_600, 'Must be authenticated!')), text(403, 'App is inactive, please check your account')],
    forbidden: [of(403, -32_600, 'Origin not on whitelist.')],
    throttled: [
      of(
        429,
        429,
        'Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message.',
      ),
    ],
    quota: [
      of(
        429,
        429,
        'Monthly capacity limit exceeded. Visit the dashboard billing page to upgrade your scaling policy for continued service.',
      ),
      of(403, -32_000, 'Monthly capacity limit exceeded.'),
    ],
    range: [
      of(
        200,
        -32_602,
        'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x0, 0x1f4]',
      ),
      of(
        400,
        -32_600,
        'You can make eth_getLogs requests with up to a 500 block range. Based on your parameters, this block range should work: [0x1, 0x1f4]',
      ),
    ],
    batchTooLarge: [forAll(of(400, -32_600, 'Batch size too large: at most 1000 requests are allowed'))],
    methodUnavailable: [of(400, -32_600, 'Unsupported method: $METHOD. See available methods in the documentation.')],
    wrongNetwork: [
      of(403, -32_600, 'MATIC_MAINNET is not enabled for this app. Visit this page to enable the network'),
    ],
    invalidRequest: [of(400, -32_600, 'JSON is not a valid request object.')],
    unavailable: [of(503, -32_000, 'Unable to complete request at this time.')],
  },
}

const infura: Dialect = {
  maxLogs: 10_000,
  answers: {
    auth: [text(401, 'invalid project id\n'), forAll(of(401, -32_002, 'invalid JWT'))],
    forbidden: [
      of(403, -32_002, 'rejected due to project ID settings'),
      of(401, -32_002, 'rejected due to project ID settings'),
    ],
    throttled: [
      of(429, 429, 'Too Many Requests', { code: 429, event: -33_200, message: 'Too Many Requests' }),
      of(200, -32_005, 'project ID request rate exceeded', {
        see: 'https://infura.io/dashboard',
        rate: { allowed_rps: 10, current_rps: 12.5, backoff_seconds: 30 },
      }),
    ],
    quota: [
      of(402, 402, 'Payment Required', { event: -33_000 }),
      of(429, 429, 'daily request limit for this key exceeded', { event: -33_400 }),
      of(200, -32_005, 'daily request count exceeded, request rate limited', { see: 'https://infura.io/dashboard' }),
    ],
    range: [
      of(200, -32_005, 'query returned more than 10000 results. Try with this block range [0x1, 0x64].', {
        from: '0x1',
        limit: 10_000,
        to: '0x64',
      }),
    ],
    methodUnavailable: [
      of(200, -32_601, 'The method $METHOD does not exist/is not available'),
      of(200, -32_004, 'Method not supported'),
    ],
    unavailable: [text(502, badGateway)],
  },
}

const quicknode: Dialect = {
  maxLogBlocks: 10_000,
  answers: {
    auth: [text(401, 'Unauthorized')],
    forbidden: [text(401, 'IP address not allowed')],
    throttled: [
      of(
        429,
        -32_007,
        '50/second request limit reached - reduce calls per second or upgrade your account at quicknode.com',
      ),
      of(200, -32_012, 'credits limited to 6000/sec'),
    ],
    quota: [of(403, -32_000, 'Endpoint is disabled due to past due payment')],
    range: [of(413, -32_614, 'eth_getLogs is limited to a 10,000 range')],
    batchTooLarge: [text(413, '<html><head><title>413 Request Entity Too Large</title></head></html>')],
    methodUnavailable: [of(200, -32_612, 'custom trace is not enabled'), of(200, -32_613, '$METHOD is restricted')],
    invalidRequest: [text(404, '404 page not found')],
  },
}

const ankr: Dialect = {
  maxLogBlocks: 10_000,
  answers: {
    auth: [
      text(401, 'message: API key not found, trace_id: 0000'),
      text(404, 'message: API key not found, trace_id: 0000'),
    ],
    throttled: [
      of(200, -32_090, 'rate limit exhausted'),
      of(429, -32_090, 'Too many requests, reason: call rate limit exhausted, retry in 10s'),
    ],
    quota: [of(403, -32_000, 'Your account is suspended: negative balance')],
    range: [
      of(200, -32_000, 'maximum [from, to] blocks distance: 10000'),
      of(200, -32_062, 'Block range is too large'),
    ],
    batchTooLarge: [forAll(of(200, -32_600, 'Too many [eth_getLogs] methods in the batch'))],
    methodUnavailable: [of(404, -32_601, missingMethod)],
    wrongNetwork: [of(403, -32_052, 'API key is not allowed to access blockchain')],
    unavailable: [of(200, -32_055, 'No nodes available, try again later')],
  },
}

const drpcTier = 'to use this feature register paid account at drpc.org'
const drpc: Dialect = {
  maxBatch: 3,
  maxLogBlocks: 10_000,
  answers: {
    auth: [of(200, 4, 'token is invalid')],
    forbidden: [of(200, 35, 'method is not available on freetier, please upgrade to paid tier')],
    throttled: [of(429, 15, 'Too many request, try again later: compute units per minute exceeded')],
    quota: [
      { status: 402, text: '{"message":"You have reached the free tier limits","code":402}', whole: true },
      { status: 429, text: '{"message":"You have reached the free tier limit","code":429}', whole: true },
    ],
    range: [
      of(200, 35, 'ranges over 10000 blocks are not supported on freetier'),
      of(400, 35, 'ranges over 10000 blocks are not supported on freetier'),
    ],
    batchTooLarge: [of(200, 31, `Batch of more than 3 requests are not allowed on free tier, ${drpcTier}`)],
    unavailable: [of(500, 19, 'Temporary internal error. Please retry, trace-id: 0000')],
    timeout: [of(408, 30, 'Request timeout on the free tier, please upgrade your tier to the paid one')],
  },
}

/** What nodes themselves say, which a service passes through; and what proxies say that have no words of their own. */
const node: Dialect = {
  answers: {
    auth: [text(401, 'Unauthorized')],
    forbidden: [text(403, '')],
    throttled: [text(429, 'Too Many Requests')],
    quota: [text(402, 'Payment Required')],
    range: [of(200, -32_000, 'exceed maximum block range: 5000')],
    batchTooLarge: [forAll(of(200, -32_600, 'batch too large'))],
    methodUnavailable: [of(200, -32_601, missingMethod)],
    wrongNetwork: [text(404, 'unknown network')],
    lagging: [of(200, -32_000, 'header not found')],
    missingData: [
      of(200, -32_000, 'missing trie node 1111111111111111111111111111111111111111111111111111111111111111 (path )'),
    ],
    revert: [of(200, 3, 'execution reverted', '0x')],
    txKnown: [of(200, -32_000, 'already known')],
    txRejected: [of(200, -32_000, 'nonce too low: next nonce 5, tx nonce 4')],
    invalidRequest: [
      of(
        200,
        -32_602,
        'invalid argument 0: json: cannot unmarshal hex string without 0x prefix into Go struct field TransactionArgs.to of type common.Address',
      ),
      text(415, 'invalid content type, only application/json is supported'),
    ],
    unavailable: [text(503, 'node is not ready'), text(502, badGateway)],
    timeout: [of(200, -32_002, 'request timed out')],
    unknown: [of(200, -32_000, 'something new')],
  },
}

/** Every dialect, by personality. */
export const dialects: Readonly<Record<Personality, Dialect>> = {
  keyrail,
  alchemy,
  infura,
  quicknode,
  ankr,
  drpc,
  node,
}

/** @throws {KeyrailError} kind `invalidRequest` for what is no personality. */
export function checkPersonality(personality: Personality): void {
  if (!Object.hasOwn(dialects, personality))
    throw refused(`personality must be one of ${Object.keys(dialects).join(', ')}`)
}

/**
 * How a personality says that something failed: in its own words, or, where it has none, in the node's.
 *
 * @param status - The HTTP status that is wanted, where it knows several ways.
 */
export function dialectAnswer(personality: Personality, kind: FailureKind, status?: number): DialectAnswer | undefined {
  const known = dialects[personality].answers[kind] ?? node.answers[kind] ?? []
  return (
    known.find((answer) => status === undefined || answer.status === status) ??
    (known[0] && { ...known[0], status: status ?? known[0].status })
  )
}
