import { classify } from './classify.ts'
import type { Facts } from './facts.ts'
import { KeyrailError } from './keyrailError.ts'
import { mask } from './mask.ts'
import { repeatable } from './repeatable.ts'
import { retryAfter } from './retryAfter.ts'

export type { Facts } from './facts.ts'

/** Whose call failed, and what must not be shown of it. */
export interface FailureContext {
  readonly method: string
  /** The printable form of the address. */
  readonly label: string
  /** Masked wherever the server's words hold them: the key, a token, credentials. */
  readonly secrets?: readonly string[] | undefined
}

/**
 * Makes the one error of Keyrail from what is known of a failure: gives it a kind (by the table in `classification.json`, where the facts do
 * not bring one), says where it arose and whether the call may be made again. Secrets are masked in all of it.
 *
 * @param facts - What is known.
 * @param context - Method, label and secrets of the call.
 * @example
 * const error = createFailure({ text: 'over rate limit', status: 429 }, { method: 'eth_call', label: 'https://node.example/v2/…' })
 * error.kind // 'throttled'
 */
export function createFailure(facts: Facts, context: FailureContext): KeyrailError {
  const { status, unsent, final } = facts
  const { method, label, secrets = [] } = context
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
    `${method} failed: ${kind}${status ? `, HTTP ${status}` : ''}${rpcError ? `, code ${rpcError.code}` : ''} at ${label}: ${said}`,
    {
      kind,
      source: /^net|bad/.test(kind)
        ? 'transport'
        : facts.kind
          ? 'client'
          : !rpcError || requestId || refusals.includes(kind)
            ? 'service'
            : 'node',
      retryable:
        passing.includes(kind) &&
        !final &&
        (unsent ||
          repeatable(method) ||
          (kind === 'throttled' && (facts.kind !== undefined || turnedAway(status, rpcError?.code))) ||
          (typeof reason === 'string' && unsentBecause.test(reason))),
      retryAfterMs: retryAfter(judged),
      method,
      label,
      status,
      rpcError,
    },
  )
}

/** Reasons of Keyrail's service that say nothing was passed on. */
const unsentBecause = /^(draining|no_up|key_st)/

/** Whether status or code say that a call was turned away at the door. Words alone do not: a proxy may write them after it passed a call on. */
const turnedAway = (status = 0, code = 0): boolean =>
  status === 429 || (status < 500 && [429, -32005, -32007, -32009, -32017].includes(code))

/** What passes by itself. */
const passing = 'throttled unavailable network timeout badResponse lagging'

/** What an access service says in place of the node. */
const refusals = 'auth forbidden throttled quota batchTooLarge wrongNetwork unavailable'
