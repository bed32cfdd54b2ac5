import { classify } from './classify.ts'
import type { Facts } from './facts.ts'
import type { FailureKind } from './failureKind.ts'
import { hints } from './hints.ts'
import { KeyrailError } from './keyrailError.ts'
import type { FailureSource } from './keyrailError.ts'
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
  const { status, code } = facts
  const { method, label, secrets = [] } = context
  const rule = facts.kind ? undefined : classify(facts, method)
  const kind = facts.kind ?? rule?.kind ?? 'unknown'
  const reason = rule?.when.reason
  const rpcError = facts.rpcError && mask(facts.rpcError, secrets)
  const source: FailureSource =
    kind === 'network' || kind === 'badResponse'
      ? 'transport'
      : facts.kind
        ? 'client'
        : reason || !rpcError || refusals.includes(kind)
          ? 'service'
          : 'node'
  const retryable =
    passing.includes(kind) &&
    !facts.final &&
    (repeatable(method) || kind === 'throttled' || !!facts.unsent || !!reason?.includes('draining'))
  const said = mask(plain(facts.text), secrets).slice(0, 300)
  const seen = [status && `HTTP ${status}`, code !== undefined && `code ${code}`].filter(Boolean).join(', ')
  const hint = hints[kind]
  return new KeyrailError(
    `${method} failed: ${kind}${seen && ` (${seen})`} at ${label}${said && `: ${said.replace(/[.\s]+$/, '')}`}.${hint && ` ${hint}`}`,
    { kind, source, retryable, retryAfterMs: retryAfter(facts), hint, method, label, status, rpcError },
  )
}

/** What passes by itself. */
const passing: readonly FailureKind[] = ['throttled', 'unavailable', 'network', 'timeout', 'badResponse', 'lagging']

/** What an access service says in place of the node. */
const refusals: readonly FailureKind[] = [
  'auth',
  'forbidden',
  'throttled',
  'quota',
  'batchTooLarge',
  'wrongNetwork',
  'unavailable',
]

/** The words of a text, of an HTML page its title or else what is left without tags. */
const plain = (text: string): string => {
  const start = text.slice(0, 10_000)
  return (
    /^\s*</.test(start)
      ? (/<title[^>]*>([^<]+)/i.exec(start)?.[1] ?? start.replace(/<(script|style)[^]*?<\/\1>|<[^>]*>/gi, ' '))
      : start
  )
    .replace(/\s+/g, ' ')
    .trim()
}
