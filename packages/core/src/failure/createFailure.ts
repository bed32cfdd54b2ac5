import { classify } from './classify.ts'
import type { FailureFacts } from './failureFacts.ts'
import type { FailureKind } from './failureKind.ts'
import { isReadMethod } from './isReadMethod.ts'
import { KeyrailError } from './keyrailError.ts'
import { mask } from './mask.ts'
import { parseRetryAfter } from './parseRetryAfter.ts'

export type { FailureFacts } from './failureFacts.ts'

/** The call that failed, and the secrets that its error must not show. */
export interface FailureContext {
  readonly method: string
  /** The URL of the endpoint, without the key. */
  readonly redactedUrl: string
  /** The key, a token, credentials: masked in everything that the server sent. */
  readonly secrets?: readonly string[] | undefined
}

/**
 * Creates the error of a failed call. Classifies the failure by the table in `classification.json`, unless the facts name its kind, and decides
 * where it happened and whether the call may be repeated. Masks secrets in the message and in `rpcError`.
 *
 * @param facts - The facts about the failure.
 * @param context - The call: its method, the redacted URL and the secrets.
 * @example
 * const error = createFailure({ text: 'over rate limit', status: 429 }, { method: 'eth_call', redactedUrl: 'https://node.example/v2/…' })
 * error.kind // 'throttled'
 * error.message // 'eth_call failed (throttled, HTTP 429, https://node.example/v2/…): over rate limit.'
 */
export function createFailure(facts: FailureFacts, context: FailureContext): KeyrailError {
  const { status, unsent, final } = facts
  const { method, redactedUrl, secrets = [] } = context
  // A server may send anything as the code, but only a number is shown.
  const code = typeof facts.rpcError?.code === 'number' ? facts.rpcError.code : 0
  // Masked before it is classified: a masked value is never too deep to be written as JSON.
  const rpcError = facts.rpcError && mask({ ...facts.rpcError, code }, secrets, { code, message: '…' })
  const masked = { ...facts, rpcError }
  const kind = facts.kind ?? classify(masked, method)?.kind ?? 'unknown'
  // Services add a request id or a reason to their errors, nodes do not.
  const { requestId, reason } = Object(rpcError?.data) as { readonly requestId?: unknown; readonly reason?: unknown }
  const text = mask(facts.text || (facts.problem ?? ''), secrets, '…')
    .replace(/\s+/g, ' ')
    .slice(0, MAX_SHOWN_TEXT)
    // A question, such as "did you mean …?", has its own end.
    .replace(/([!?]?)[. ]*$/, (_, mark: string) => mark || '.')
  const details = [kind, status && `HTTP ${status}`, rpcError && `code ${rpcError.code}`, redactedUrl]
  return new KeyrailError(`${method} failed (${details.filter((detail) => detail).join(', ')}): ${text}`, {
    kind,
    source: transportKinds.has(kind)
      ? 'transport'
      : facts.kind
        ? 'client'
        : !rpcError || requestId || serviceKinds.has(kind)
          ? 'service'
          : 'node',
    retryable:
      temporaryKinds.has(kind) &&
      !final &&
      (unsent ||
        isReadMethod(method) ||
        // A subscription ends with its connection, so nothing is done twice.
        method === 'eth_subscribe' ||
        (kind === 'throttled' && (facts.kind !== undefined || isRateLimited(status, rpcError?.code))) ||
        notForwardedReasons.has(reason)),
    retryAfterMs: parseRetryAfter(masked),
    method,
    redactedUrl,
    status,
    rpcError,
  })
}

/** The server's message is cut to this many characters. */
const MAX_SHOWN_TEXT = 300

/** The reasons with which Keyrail's service reports that it has not forwarded the call. */
const notForwardedReasons: ReadonlySet<unknown> = new Set(['draining', 'no_upstream', 'key_store_unavailable'])

/** Codes with which services reject a call before they forward it. */
const rateLimitCodes: ReadonlySet<number> = new Set([429, -32005, -32007, -32009, -32017])

/**
 * Whether the status or the code shows that a call was rejected before it was forwarded. The message alone does not show it, and neither does a
 * code under 5xx: a proxy may write both after it forwarded the call.
 */
const isRateLimited = (status = 0, code = 0): boolean => status === 429 || (status < 500 && rateLimitCodes.has(code))

/** Kinds of failure that can go away without a change by the caller. */
const temporaryKinds: ReadonlySet<FailureKind> = new Set([
  'throttled',
  'unavailable',
  'network',
  'timeout',
  'badResponse',
  'lagging',
])

/** Kinds of failure that happen between this client and the server. */
const transportKinds: ReadonlySet<FailureKind> = new Set(['network', 'badResponse'])

/** Kinds of failure that an access service reports in place of the node. */
const serviceKinds: ReadonlySet<FailureKind> = new Set([
  'auth',
  'forbidden',
  'throttled',
  'quota',
  'batchTooLarge',
  'wrongNetwork',
  'unavailable',
])
