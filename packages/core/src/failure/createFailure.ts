import { classify } from './classify.ts'
import type { Facts } from './facts.ts'
import type { FailureKind } from './failureKind.ts'
import { KeyrailError } from './keyrailError.ts'
import { mask } from './mask.ts'
import { isReadMethod } from './isReadMethod.ts'
import { retryAfter } from './retryAfter.ts'

export type { Facts } from './facts.ts'

/** Whose call failed, and what must not be shown of it. */
export interface FailureContext {
  readonly method: string
  /** The printable form of the address. */
  readonly redactedUrl: string
  /** Masked wherever the server's words hold them: the key, a token, credentials. */
  readonly secrets?: readonly string[] | undefined
}

/**
 * Makes the one error of Keyrail from what is known of a failure: gives it a kind (by the table in `classification.json`, where the facts do
 * not bring one), says where it arose and whether the call may be made again. Secrets are masked in all of it.
 *
 * @param facts - What is known.
 * @param context - Method, redactedUrl and secrets of the call.
 * @example
 * const error = createFailure({ text: 'over rate limit', status: 429 }, { method: 'eth_call', redactedUrl: 'https://node.example/v2/…' })
 * error.kind // 'throttled'
 */
export function createFailure(facts: Facts, context: FailureContext): KeyrailError {
  const { status, unsent, final } = facts
  const { method, redactedUrl, secrets = [] } = context
  // Whatever came as the code is shown, and so has to be a number.
  const code = typeof facts.rpcError?.code === 'number' ? facts.rpcError.code : 0
  // Masked first: what is left can be written as JSON, however deep it came.
  const rpcError = facts.rpcError && mask({ ...facts.rpcError, code }, secrets, { code, message: '…' })
  const judged = { ...facts, rpcError }
  const kind = facts.kind ?? classify(judged, method)?.kind ?? 'unknown'
  // Only a service numbers its refusals; a node does not.
  const { requestId, reason } = Object(rpcError?.data) as { readonly requestId?: unknown; readonly reason?: unknown }
  const said = mask(facts.text, secrets, '…')
    .replace(/\s+/g, ' ')
    .slice(0, 300)
    .replace(/[. ]*$/, '.')
  return new KeyrailError(
    `${method} failed: ${kind}${status ? `, HTTP ${status}` : ''}${rpcError ? `, code ${rpcError.code}` : ''} at ${redactedUrl}: ${said}`,
    {
      kind,
      source: onTheWay.has(kind)
        ? 'transport'
        : facts.kind
          ? 'client'
          : !rpcError || requestId || fromService.has(kind)
            ? 'service'
            : 'node',
      retryable:
        temporary.has(kind) &&
        !final &&
        (unsent ||
          isReadMethod(method) ||
          (kind === 'throttled' && (facts.kind !== undefined || turnedAway(status, rpcError?.code))) ||
          notForwarded.has(reason)),
      retryAfterMs: retryAfter(judged),
      method,
      redactedUrl,
      status,
      rpcError,
    },
  )
}

/** The reasons with which Keyrail's service says that it has not forwarded the call. */
const notForwarded: ReadonlySet<unknown> = new Set(['draining', 'no_upstream', 'key_store_unavailable'])

/** Codes with which services reject a call before they forward it. */
const rateLimitCodes: ReadonlySet<number> = new Set([429, -32005, -32007, -32009, -32017])

/** Whether status or code say that a call was rejected before it was forwarded. Words alone do not: a proxy may write them afterwards. */
const turnedAway = (status = 0, code = 0): boolean => status === 429 || (status < 500 && rateLimitCodes.has(code))

/** Kinds of failure that can go away without a change by the caller. */
const temporary: ReadonlySet<FailureKind> = new Set([
  'throttled',
  'unavailable',
  'network',
  'timeout',
  'badResponse',
  'lagging',
])

/** Kinds of failure that arise between this client and the server. */
const onTheWay: ReadonlySet<FailureKind> = new Set(['network', 'badResponse'])

/** Kinds of failure that an access service reports in place of the node. */
const fromService: ReadonlySet<FailureKind> = new Set([
  'auth',
  'forbidden',
  'throttled',
  'quota',
  'batchTooLarge',
  'wrongNetwork',
  'unavailable',
])
