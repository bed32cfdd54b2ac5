import table from './classification.json' with { type: 'json' }
import type { Facts } from './facts.ts'
import type { FailureKind } from './failureKind.ts'

/** One rule of the classification: its kind holds where both of its conditions do. */
export interface Rule {
  readonly kind: FailureKind
  /**
   * A regex, searched without regard to case in what is known of the failure, written as three lines or more:
   * `{HTTP status} {code} {batch}`, then the text, then the data (a text as it is, else as compact JSON, or `undefined`).
   * Code is that of the JSON-RPC error, `undefined` where the answer had none; batch is `true` where the call was sent in one.
   */
  readonly when: string
  /** A regex, searched without regard to case in the method's name. */
  readonly method?: string
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
  { text, status, rpcError, batch }: Facts,
  method: string,
  rules: readonly Rule[] = table as readonly Rule[],
): Rule | undefined {
  const { code, data } = Object(rpcError) as { code?: unknown; data?: unknown }
  const seen = `${status} ${code} ${batch}\n${text}\n${typeof data === 'string' ? data : JSON.stringify(data)}`
  const holds = (regex: string | undefined, on: string): boolean =>
    new RegExp(regex ?? '', 'i').test(on.slice(0, 4_000))
  return rules.find((rule) => holds(rule.when, seen) && holds(rule.method, method))
}
