import table from './classification.json' with { type: 'json' }
import { dataText } from './dataText.ts'
import type { Facts } from './facts.ts'
import type { FailureKind } from './failureKind.ts'

/** One rule of the classification: its kind holds where all of its conditions do. */
export interface Rule {
  readonly kind: FailureKind
  readonly when: {
    /** The stable word in `error.data.reason` by which Keyrail's own service names a refusal. A regex for the whole word. */
    readonly reason?: string
    /** The HTTP status is one of these. */
    readonly status?: readonly number[]
    /** The code of the JSON-RPC error is one of these. */
    readonly code?: readonly number[]
    /** A regex, searched without regard to case in the message, a line break, and the data (a string as it is, else as compact JSON). */
    readonly text?: string
    /** A regex, searched without regard to case in the method's name. */
    readonly method?: string
    /** Whether the call was sent in a batch. */
    readonly batch?: boolean
    /** `rpc` where the answer had a JSON-RPC error, `http` where it had none. */
    readonly source?: 'rpc' | 'http'
  }
}

/**
 * Finds the first rule that holds for a failure.
 *
 * @param facts - What is known of the failure.
 * @param method - The method of the call.
 * @param rules - The ordered table. Default: Keyrail's own, `classification.json`.
 * @returns The rule, or undefined where none holds: the failure is then of kind `unknown`.
 * @example
 * classify({ text: 'header not found', rpcError: { code: -32000, message: 'header not found' } }, 'eth_call')?.kind // 'lagging'
 */
export function classify(
  { text, status, rpcError, batch = false }: Facts,
  method: string,
  rules: readonly Rule[] = table as readonly Rule[],
): Rule | undefined {
  const { code, data } = Object(rpcError) as { code?: unknown; data?: unknown }
  const { reason } = Object(data) as { reason?: unknown }
  const seen: Record<string, unknown> = {
    status,
    code,
    // A thing that is no text may throw when made one.
    reason: typeof reason === 'string' ? reason : '',
    method,
    batch,
    source: rpcError ? 'rpc' : 'http',
    text: `${text}\n${dataText(data)}`.slice(0, 4_000),
  }
  return rules.find(({ when }) =>
    Object.entries(when).every(([name, want]: [string, string | boolean | readonly number[]]) =>
      typeof want === 'object'
        ? want.includes(seen[name] as number)
        : new RegExp(String(want), 'i').test(String(seen[name])),
    ),
  )
}
