import { classify } from './classify.ts'
import type { Facts } from './facts.ts'
import { hints } from './hints.ts'
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
 * not bring one), says where it arose, whether the call may be made again, and what to do about it. Secrets are masked in all of it.
 *
 * @param facts - What is known.
 * @param context - Method, label and secrets of the call.
 * @example
 * const error = createFailure({ text: 'over rate limit', status: 429 }, { method: 'eth_call', label: 'https://node.example/v2/…' })
 * error.kind // 'throttled'
 */
export function createFailure(facts: Facts, context: FailureContext): KeyrailError {
  const { status, rpcError } = facts
  const { method, label, secrets = [] } = context
  const text = words(facts.text)
  const rule = facts.kind ? undefined : classify({ ...facts, text }, method)
  const kind = facts.kind ?? rule?.kind ?? 'unknown'
  const reason = rule?.when.reason
  const code = rpcError?.code
  const said = mask(text, secrets, '…').slice(0, 300)
  const hint = hints[kind]
  return new KeyrailError(
    `${method} failed: ${kind}${status ? ` (HTTP ${status}${code ? `, code ${code}` : ''})` : ''} at ${label}${said && `: ${said.replace(/[. ]+$/, '')}`}.${hint ? ` ${hint}` : ''}`,
    {
      kind,
      source: /^net|bad/.test(kind)
        ? 'transport'
        : facts.kind
          ? 'client'
          : reason || !rpcError || refusals.includes(kind)
            ? 'service'
            : 'node',
      retryable:
        passing.includes(kind) &&
        !facts.final &&
        (repeatable(method) || kind === 'throttled' || !!facts.unsent || !!reason?.includes('draining')),
      retryAfterMs: retryAfter({ ...facts, text }),
      hint,
      method,
      label,
      status,
      rpcError: rpcError && mask(rpcError, secrets, { code: rpcError.code, message: '…' }),
    },
  )
}

/** What passes by itself. */
const passing = 'throttled unavailable network timeout badResponse lagging'

/** What an access service says in place of the node. */
const refusals = 'auth forbidden throttled quota batchTooLarge wrongNetwork unavailable'

/** A text on one line; of an HTML page its title, or else what is left without tags. */
function words(text: string): string {
  let start = text.slice(0, 10_000)
  if (/^\s*</.test(start)) start = /<title>([^<]+)/i.exec(start)?.[1] ?? start.replace(/<[^>]*>/g, ' ')
  return start.replace(/\s+/g, ' ').trim()
}
